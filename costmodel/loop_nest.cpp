// SPDX-License-Identifier: Apache-2.0
#include "costmodel/loop_nest.h"

#include <cstddef>

namespace pliant {

namespace {

/// Not 0 if two numbers differ. Of bounds and their products equal ones have equal bits; no branch is needed for them.
inline std::uint64_t difference(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) ^ std::bit_cast<std::uint64_t>(b);
}

}  // namespace

LoopNest::LoopNest(const Problem& problem)
    : problem_(problem),
      levels_(problem.levels),
      dims_(problem.dims),
      tensors_(problem.tensors),
      fanouts_(problem.fanouts) {
  for (int x = 0; x < tensors_; ++x)
    for_each_bit(problem_.coupled[x],
                 [&](int d) { coupled_lanes_[d][x / kLanes] |= std::uint64_t{1} << kLane * (x % kLanes); });
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
  refresh_moving();
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
  Change change = place_bounds(dim, bound_by_level);
  if (!change.any()) return change;
  if (const std::uint32_t toggled = (present_[dim] ^ present_before) & ~fanouts_; toggled != 0) {
    change.bits |= 4U;
    toggle_loops(dim, toggled);
    refresh_moving();
  }
  // Last, as they read several of the numbers at once that were just written one by one.
  refresh_steps();
  if (change.spatial()) copies_along(every_dim(), 1, instances_);
  return change;
}

void LoopNest::set_order(int level, const std::uint8_t* dims_outermost_first) {
  Loops& at = at_[level];
  std::uint32_t active = 0;
  std::array<std::uint64_t, kWords> coupled{};
  for (int i = 0, position = dims_ - 1; position >= 0; ++i, --position) {
    const std::uint8_t d = dims_outermost_first[i];
    at.dim[position] = d;
    at.position[d] = static_cast<std::uint8_t>(position);
    active |= (present_[d] >> level & 1U) << position;
    for (int word = 0; word < kWords; ++word) coupled[word] |= coupled_lanes_[d][word] << position;
  }
  at.active = active;
  for (int first = 0; first < tensors_; first += kLanes)
    for (int lane = 0; lane < kLanes; ++lane)
      at.coupled[first + lane] = static_cast<std::uint16_t>(coupled[first / kLanes] >> kLane * lane);
}

/// Says all of a change but which loops appeared or vanished.
LoopNest::Change LoopNest::place_bounds(int d, const Count* bound_by_level) {
  double *const b = b_[d].at.data(), *const tiles = tile_[d].at.data(), *const copies = spatial_[d].at.data();
  const int levels = levels_;
  double tile = 1;
  std::uint32_t present = 0;
  std::uint64_t changed = 0, respread = 0;
  for (std::ptrdiff_t l = levels - 1; l >= 0; --l) {
    const Count bound = bound_by_level[l];
    const auto value = static_cast<double>(bound);
    changed |= difference(value, b[l]);
    b[l] = value;
    tile *= value;
    tiles[l] = tile;
    present = present + present + std::uint32_t{static_cast<std::uint64_t>(bound) > 1};
  }
  double temporal = 1, spatial = 1;
  double* outer = copies;
  std::uint32_t fanouts = fanouts_;
  for (int l = 0; l < levels; ++l, fanouts >>= 1) {
    at_[l].outside[d] = temporal;
    if (fanouts & 1U) {
      spatial *= b[l];
      respread |= difference(spatial, *++outer);
      *outer = spatial;
    } else {
      temporal *= b[l];
    }
  }
  at_[levels].outside[d] = iterations_[d] = temporal;
  present_[d] = present;
  const DimSet bit = DimSet{1} << d;
  imperfect_dims_ = tile == problem_.size[d] ? imperfect_dims_ & ~bit : imperfect_dims_ | bit;
  return {std::uint32_t{changed != 0} + 2U * std::uint32_t{respread != 0}};
}

void LoopNest::refresh_moving() {
  const std::uint64_t memories = below(levels_) & ~fanouts_;
  for (int first = 0; first < tensors_; first += kLanes) {
    std::uint64_t lanes = 0;
    for (int d = 0; d < dims_; ++d) lanes |= present_[d] * coupled_lanes_[d][first / kLanes];
    for (int lane = 0; lane < kLanes; ++lane, lanes >>= kLane)
      moving_[first + lane] = static_cast<std::uint32_t>(lanes & memories);
  }
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
