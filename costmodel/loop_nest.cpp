// SPDX-License-Identifier: Apache-2.0
#include "costmodel/loop_nest.h"

namespace pliant {

LoopNest::LoopNest(const Problem& problem)
    : problem_(problem),
      levels_(problem.levels),
      dims_(problem.dims),
      tensors_(problem.tensors),
      fanouts_(problem.fanouts) {
  for (int x = 0; x < tensors_; ++x)
    for_each_bit(problem_.coupled[x], [&](int d) { coupled_lanes_[d][x / 4] |= std::uint64_t{1} << 16 * (x % 4); });
  for (std::array<PerLevel, kMaxDims>* table : {&b_, &spatial_, &tile_})
    for (PerLevel& row : *table) row.at.fill(1);
  for (Loops& level : at_) level.outside.fill(1);
  iterations_.fill(1);
  for (int l = 0; l < levels_; ++l) ring_[l + 1] = static_cast<std::uint8_t>(ring_[l] + (fanouts_ >> l & 1U));
  for (int l = 0; l < levels_; ++l)
    if (problem_.is_memory[l]) memory_[memories_++] = static_cast<std::uint8_t>(l);
  for (int d = 0; d < dims_; ++d) every_dim_[d] = static_cast<std::uint8_t>(d);
  instances_.at.fill(1);
}

void LoopNest::load_bounds(const FlatMapping& mapping) {
  for (int d = 0; d < dims_; ++d) {
    std::array<Count, kMaxLevels> bounds;
    for (int l = 0; l < levels_; ++l) bounds[l] = mapping.bound[l][d];
    place_bounds(d, bounds.data());
  }
  refresh_steps();
  copies_along(every_dim(), 1, instances_);
  for (int x = 0; x < tensors_; ++x) refresh_moving(x);
}

/// Without a branch, as any loop may have appeared or vanished.
inline void LoopNest::toggle_loops(int dim, std::uint32_t levels) {
  for (unsigned i = 0; i < memories_; ++i) {
    const unsigned l = memory_[i];
    at_[l].active ^= (levels >> l & 1U) << at_[l].position[dim];
  }
}

LoopNest::Change LoopNest::set_bounds(int dim, const Count* bound_by_level) {
  const std::uint32_t present_before = present_[dim];
  Change change;
  change.spatial = place_bounds(dim, bound_by_level);
  refresh_steps();
  if (change.spatial) copies_along(every_dim(), 1, instances_);
  const std::uint32_t toggled = (present_[dim] ^ present_before) & ~fanouts_;
  change.toggled = toggled != 0;
  if (change.toggled) {
    toggle_loops(dim, toggled);
    for_each_bit(below(tensors_) & ~problem_.uncoupled[dim], [&](int x) { refresh_moving(x); });
  }
  return change;
}

void LoopNest::set_order(int level, const std::uint8_t* dims_outermost_first) {
  Loops& at = at_[level];
  std::uint32_t active = 0;
  std::array<std::uint64_t, 2> coupled{};
  for (int i = 0, position = dims_ - 1; position >= 0; ++i, --position) {
    const std::uint8_t d = dims_outermost_first[i];
    at.dim[position] = d;
    at.position[d] = static_cast<std::uint8_t>(position);
    active |= (present_[d] >> level & 1U) << position;
    coupled[0] |= coupled_lanes_[d][0] << position;
    coupled[1] |= coupled_lanes_[d][1] << position;
  }
  at.active = active;
  for (int x = 0; x < tensors_; ++x)
    at.coupled[x] = static_cast<std::uint16_t>(coupled[static_cast<unsigned>(x) / 4] >> 16 * (x % 4));
}

/// True if a fanout's bound is another one.
bool LoopNest::place_bounds(int d, const Count* bound_by_level) {
  double *const b = b_[d].at.data(), *const tiles = tile_[d].at.data(), *const copies = spatial_[d].at.data();
  const int levels = levels_;
  double tile = 1;
  std::uint32_t present = 0;
  for (int l = levels - 1; l >= 0; --l) {
    const Count bound = bound_by_level[l];
    const auto value = static_cast<double>(bound);
    b[l] = value;
    tile *= value;
    tiles[l] = tile;
    present = present + present + std::uint32_t{bound > 1};
  }
  double temporal = 1, spatial = 1;
  double* outer = copies;
  bool respread = false;
  std::uint32_t fanouts = fanouts_;
  for (int l = 0; l < levels; ++l, fanouts >>= 1) {
    at_[l].outside[d] = temporal;
    if (fanouts & 1U) {
      spatial *= b[l];
      respread |= spatial != *++outer;
      *outer = spatial;
    } else {
      temporal *= b[l];
    }
  }
  at_[levels].outside[d] = iterations_[d] = temporal;
  present_[d] = present;
  const DimSet bit = DimSet{1} << d;
  imperfect_dims_ = tile == problem_.size[d] ? imperfect_dims_ & ~bit : imperfect_dims_ | bit;
  return respread;
}

void LoopNest::refresh_moving(int x) {
  std::uint32_t levels = 0;
  for_each_bit(problem_.coupled[x], [&](int d) { levels |= present_[d]; });
  moving_[x] = levels & ~problem_.fanouts;
}

void LoopNest::refresh_steps() {
  double even = 1, odd = 1;
  int d = 0;
  for (; d + 1 < dims_; d += 2) {
    even *= iterations_[d];
    odd *= iterations_[d + 1];
  }
  if (d < dims_) even *= iterations_[d];
  steps_ = even * odd;
}

void LoopNest::slide(MovingLoop& mover) const {
  mover.merged = b_[mover.dim][mover.level];
  if (problem_.conventions.halo == Conventions::Halo::kOneLoop) return;
  if ((at_[mover.level].active >> mover.position >> 1) != 0) return;  // another loop stands outside it in this level
  for (int l = mover.level - 1; l >= 0; --l) {
    if (!problem_.is_memory[l]) {
      if (b_[mover.dim][l] > 1) break;  // the next window is a neighbour's: the step changes
      continue;
    }
    const std::uint32_t active = at_[l].active;
    if (active == 0) continue;
    const int position = std::countr_zero(active);
    if (at_[l].dim[position] != mover.dim) break;
    mover.merged *= b_[mover.dim][l];
    mover.merged_to = l;
    if ((active >> position >> 1) != 0) break;
  }
}

MovingLoop LoopNest::find_moving_loop(int tensor, int parent, int child) const {
  MovingLoop mover;
  const bool within = problem_.conventions.stationarity == Conventions::Stationarity::kWithinLevel;
  const std::uint32_t levels = moving_[tensor] & below(child) & ~(within ? below(parent) : 0U);
  if (levels == 0) return mover;
  mover.level = mover.merged_to = highest(levels);
  const Loops& at = at_[mover.level];
  mover.position = static_cast<int>(at.mover(static_cast<unsigned>(tensor)));
  mover.dim = at.dim[mover.position];
  if (child != problem_.levels && (problem_.sliding[tensor] >> mover.dim & 1U) != 0) slide(mover);
  return mover;
}

}  // namespace pliant
