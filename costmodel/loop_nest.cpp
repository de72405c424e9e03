// SPDX-License-Identifier: Apache-2.0
#include "costmodel/loop_nest.h"

#include <bit>

namespace pliant {

LoopNest::LoopNest(const Problem& problem) : problem_(problem) {
  for (int l = 0; l < problem_.levels; ++l)
    if (problem_.is_memory[l]) if_memory_[l] = ~Count{0};
  for (int x = 0; x < problem_.tensors; ++x)
    for_each_bit(problem_.coupled[x], [&](int d) { coupled_lanes_[d][x / 4] |= std::uint64_t{1} << 16 * (x % 4); });
  for (std::array<PerLevel, kMaxDims>* table : {&b_, &temporal_, &spatial_, &tile_})
    for (PerLevel& row : *table) row.at.fill(1);
  instances_.at.fill(1);
}

void LoopNest::load_bounds(const FlatMapping& mapping) {
  for (int d = 0; d < problem_.dims; ++d) {
    std::array<Count, kMaxLevels> bounds;
    for (int l = 0; l < problem_.levels; ++l) bounds[l] = mapping.bound[l][d];
    Change unused;
    place_bounds(d, bounds.data(), unused);
  }
  refresh_steps();
  refresh_instances();
  for (int x = 0; x < problem_.tensors; ++x) refresh_moving(x);
}

LoopNest::Change LoopNest::set_bounds(int dim, const Count* bound_by_level) {
  Change change;
  const std::uint32_t present_before = present_[dim];
  place_bounds(dim, bound_by_level, change);
  refresh_steps();
  if (change.spatial) refresh_instances();
  const std::uint32_t toggled = (present_[dim] ^ present_before) & ~problem_.fanouts;
  change.toggled = toggled != 0;
  if (!change.toggled) return change;
  for_each_bit(toggled, [&](int l) {
    const std::uint32_t before = active_[l], bit = std::uint32_t{1} << position_[l][dim];
    active_[l] = before ^ bit;
    for (int x = 0; x < problem_.tensors; ++x)
      change.may_move_now |=
          TensorSet{(before & coupled_at(static_cast<unsigned>(l), static_cast<unsigned>(x)) & (bit - 1)) == 0} << x;
  });
  for_each_bit(below(problem_.tensors) & ~problem_.uncoupled[dim], [&](int x) { refresh_moving(x); });
  return change;
}

void LoopNest::set_order(int level, const std::uint8_t* dims_outermost_first) {
  std::uint32_t active = 0;
  std::array<std::uint64_t, 2> coupled{};
  for (int i = 0, position = problem_.dims - 1; position >= 0; ++i, --position) {
    const std::uint8_t d = dims_outermost_first[i];
    dim_at_[level][position] = d;
    position_[level][d] = static_cast<std::uint8_t>(position);
    active |= (present_[d] >> level & 1U) << position;
    coupled[0] |= coupled_lanes_[d][0] << position;
    coupled[1] |= coupled_lanes_[d][1] << position;
  }
  active_[level] = active;
  coupled_at_[level] = coupled;
}

void LoopNest::place_bounds(int d, const Count* bound_by_level, Change& change) {
  PerLevel &b = b_[d], &temporal_row = temporal_[d], &spatial_row = spatial_[d], &tile_row = tile_[d];
  const int levels = problem_.levels;
  double temporal = 1, spatial = 1;
  std::uint32_t changed = 0, present = 0;
  for (int l = 0; l < levels; ++l) {
    temporal_row[l] = temporal;
    spatial_row[l] = spatial;
    const Count bound = bound_by_level[l];
    temporal *= static_cast<double>(1 + ((bound - 1) & if_memory_[l]));
    spatial *= static_cast<double>(1 + ((bound - 1) & ~if_memory_[l]));
    const auto value = static_cast<double>(bound);
    changed |= std::uint32_t{value != b[l]} << l;
    present |= std::uint32_t{bound > 1} << l;
    b[l] = value;
  }
  temporal_row[levels] = temporal;
  spatial_row[levels] = spatial;
  present_[d] = present;
  double tile = 1;
  for (int l = levels - 1; l >= 0; --l) {
    tile *= b[l];
    tile_row[l] = tile;
  }
  const DimSet bit = DimSet{1} << d;
  imperfect_dims_ = tile == problem_.size[d] ? imperfect_dims_ & ~bit : imperfect_dims_ | bit;
  change.spatial = (changed & problem_.fanouts) != 0;
}

void LoopNest::refresh_moving(int x) {
  std::uint32_t levels = 0;
  for_each_bit(problem_.coupled[x], [&](int d) { levels |= present_[d]; });
  moving_[x] = levels & ~problem_.fanouts;
}

void LoopNest::refresh_steps() {
  const int levels = problem_.levels;
  double even = 1, odd = 1;
  for (int d = 0; d + 1 < problem_.dims; d += 2) {
    even *= temporal_[d][levels];
    odd *= temporal_[d + 1][levels];
  }
  if (problem_.dims % 2 != 0) even *= temporal_[problem_.dims - 1][levels];
  steps_ = even * odd;
}

/// Copies change only below a fanout.
void LoopNest::refresh_instances() {
  double copies = 1;
  for (int l = 0; l <= problem_.levels; ++l) {
    if (l > 0 && if_memory_[l - 1] == 0) {
      copies = spatial_[0][l];
      for (int d = 1; d < problem_.dims; ++d) copies *= spatial_[d][l];
    }
    instances_[l] = copies;
  }
}

void LoopNest::slide(MovingLoop& mover) const {
  mover.merged = b_[mover.dim][mover.level];
  if (problem_.conventions.halo == Conventions::Halo::kOneLoop) return;
  if ((active_[mover.level] >> mover.position >> 1) != 0) return;  // another loop stands outside it in this level
  for (int l = mover.level - 1; l >= 0; --l) {
    if (!problem_.is_memory[l]) {
      if (b_[mover.dim][l] > 1) break;  // the next window is a neighbour's: the step changes
      continue;
    }
    if (active_[l] == 0) continue;
    const int position = std::countr_zero(active_[l]);
    if (dim_at_[l][position] != mover.dim) break;
    mover.merged *= b_[mover.dim][l];
    mover.merged_to = l;
    if ((active_[l] >> position >> 1) != 0) break;
  }
}

MovingLoop LoopNest::find_moving_loop(int tensor, int parent, int child) const {
  MovingLoop mover;
  const bool within = problem_.conventions.stationarity == Conventions::Stationarity::kWithinLevel;
  const std::uint32_t levels = moving_[tensor] & below(child) & ~(within ? below(parent) : 0U);
  if (levels == 0) return mover;
  mover.level = mover.merged_to = highest(levels);
  mover.position = std::countr_zero(active_[mover.level] &
                                    coupled_at(static_cast<unsigned>(mover.level), static_cast<unsigned>(tensor)));
  mover.dim = dim_at_[mover.level][mover.position];
  if (child != problem_.levels && (problem_.sliding[tensor] >> mover.dim & 1U) != 0) slide(mover);
  return mover;
}

}  // namespace pliant
