// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/space_walk.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "flex/mapspace/factors.h"

namespace pliant {

namespace {

class Walk {
 public:
  Walk(const SpaceRules& rules, const std::function<bool(const Mapping&)>& visit)
      : rules_(rules),
        visit_(visit),
        dims_(rules.layer.dims.size()),
        tiles_(dims_, 1),
        mapping_(empty_mapping(rules.layer, rules.accelerator)) {
    for (const Dim& dim : rules.layer.dims) sizes_.push_back(dim.size);
    spatial_left_.assign(dims_, 0);
    for (std::size_t d = 0; d < dims_; ++d) {
      const auto& slots = rules.slots[d];
      outermost_.push_back(slots.empty() ? -1 : static_cast<int>(slots.size()) - 1);
    }
  }

  bool run() {
    if (rules_.rule == Factorization::kPadding) {
      mapping_.padded = sizes_;
      return pad(0);
    }
    resolve_fixed_tiles();
    return level(rules_.accelerator.levels.size());
  }

 private:
  /// Padding: the spatial factor of every dim comes first, for it decides the padded size; the rest is perfect.
  bool pad(std::size_t d) {
    if (d == dims_) {
      resolve_fixed_tiles();
      return level(rules_.accelerator.levels.size());
    }
    const Count size = rules_.layer.dims[d].size;
    Count most = 1;
    for (const LoopSlot& slot : rules_.slots[d])
      if (slot.spatial) most = most > size / slot.limit ? size : most * slot.limit;
    for (Count factor = 1; factor <= std::min(most, size); ++factor) {
      spatial_left_[d] = factor;
      sizes_[d] = mapping_.padded[d] = (size + factor - 1) / factor * factor;
      if (!pad(d + 1)) return false;
    }
    return true;
  }

  void resolve_fixed_tiles() {
    wanted_.clear();
    for (const MemoryRules& memory : rules_.memories) {
      auto& wanted = wanted_.emplace_back(dims_, 0);
      for (std::size_t d = 0; d < dims_; ++d)
        if (memory.fixed[d] > 0) wanted[d] = reachable_tile(memory.fixed[d], sizes_[d], rules_.rule);
    }
  }

  /// Levels outside k, k itself excluded, are still to be chosen.
  bool level(std::size_t k) {
    if (k == 0) return complete() ? visit_(mapping_) : true;
    --k;
    if (rules_.fanout_at[k] >= 0) return parallel(k, 0, {1, 1, 0, 0});
    if (rules_.memory_at[k] >= 0) return temporal(k, 0, 0);
    return level(k);
  }

  bool complete() const {
    return tiles_ == sizes_ && std::ranges::all_of(spatial_left_, [](Count left) { return left <= 1; });
  }

  /// Bounds of dim d's slot at a level and side; only 1 where it has none. The dim's outermost slot takes all that is
  /// left.
  std::vector<Count> bounds(std::size_t d, std::size_t k, bool spatial, Side side) const {
    const auto& slots = rules_.slots[d];
    for (std::size_t s = 0; s < slots.size(); ++s) {
      if (slots[s].level != static_cast<int>(k) || (spatial && slots[s].side != side)) continue;
      std::vector<Count> all = slot_bounds(sizes_[d], tiles_[d], slots[s], rules_.rule);
      if (static_cast<int>(s) == outermost_[d])
        std::erase_if(all, [&](Count b) { return grown_tile(tiles_[d], b, sizes_[d]) != sizes_[d]; });
      if (rules_.rule == Factorization::kPadding && spatial)
        std::erase_if(all, [&](Count b) { return spatial_left_[d] % b != 0; });
      return all;
    }
    return {1};
  }

  bool temporal(std::size_t k, std::size_t d, DimSet looping) {
    const auto memory = static_cast<std::size_t>(rules_.memory_at[k]);
    if (d == dims_) return keep(k, looping);
    const Count inside = tiles_[d];
    const Count wanted = wanted_[memory][d];
    bool go_on = true;
    for (const Count b : bounds(d, k, false, Side::kRows)) {
      const Count outside = grown_tile(inside, b, sizes_[d]);
      if (wanted > 0 && outside != wanted) continue;
      tiles_[d] = outside;
      chosen_[k][d] = b;
      go_on = temporal(k, d + 1, b > 1 ? looping | DimSet{1} << d : looping);
      if (!go_on) break;
    }
    tiles_[d] = inside;
    return go_on;
  }

  bool keep(std::size_t k, DimSet looping) {
    const MemoryRules& memory = rules_.memories[static_cast<std::size_t>(rules_.memory_at[k])];
    const std::array<Count, kMaxDims>& chosen = chosen_[k];
    LevelMapping& here = mapping_.levels[k];
    bool go_on = true;
    for (const TensorSet kept : memory.keeps) {
      if (!rules_.fits(memory, kept, tiles_)) continue;
      here.keeps = kept;
      go_on = memory.orders.for_each(looping, [&](std::span<const int> order) {
        here.temporal.clear();
        for (const int dim : order) here.temporal.push_back({dim, chosen[static_cast<std::size_t>(dim)]});
        return level(k);
      });
      if (!go_on) break;
    }
    here.temporal.clear();
    return go_on;
  }

  struct Used {
    Count rows, cols;
    DimSet row_dims, col_dims;
  };

  bool parallel(std::size_t k, std::size_t d, const Used& used) {
    const FanoutRules& fanout = rules_.fanouts[static_cast<std::size_t>(rules_.fanout_at[k])];
    if (!fanout.holds(used.rows, used.cols)) return true;
    if (d == dims_) return fanout.assigns(used.row_dims, used.col_dims) ? level(k) : true;
    auto& loops = mapping_.levels[k].spatial;
    const Count inside = tiles_[d];
    const Count factor_left = spatial_left_[d];
    const std::size_t placed = loops.size();
    const int dim = static_cast<int>(d);
    bool go_on = true;
    for (const Count cols : bounds(d, k, true, Side::kCols)) {
      tiles_[d] = grown_tile(inside, cols, sizes_[d]);
      if (factor_left > 0) spatial_left_[d] = factor_left / cols;
      const Count column_tile = tiles_[d];
      const Count column_left = spatial_left_[d];
      for (const Count rows : bounds(d, k, true, Side::kRows)) {
        tiles_[d] = grown_tile(column_tile, rows, sizes_[d]);
        if (factor_left > 0) spatial_left_[d] = column_left / rows;
        if (rows > 1) loops.push_back({dim, rows, Side::kRows});
        if (cols > 1) loops.push_back({dim, cols, Side::kCols});
        Used next = used;
        next.rows *= rows;
        next.cols *= cols;
        if (rows > 1) next.row_dims |= DimSet{1} << d;
        if (cols > 1) next.col_dims |= DimSet{1} << d;
        go_on = parallel(k, d + 1, next);
        loops.resize(placed);
        tiles_[d] = column_tile;
        spatial_left_[d] = column_left;
        if (!go_on) break;
      }
      tiles_[d] = inside;
      spatial_left_[d] = factor_left;
      if (!go_on) break;
    }
    return go_on;
  }

  const SpaceRules& rules_;
  const std::function<bool(const Mapping&)>& visit_;
  const std::size_t dims_;
  std::vector<Count> sizes_;                ///< padded sizes under padding
  std::vector<Count> spatial_left_;         ///< padding: spatial factor not yet placed; 0 otherwise
  std::vector<int> outermost_;              ///< by dim: its outermost slot
  std::vector<std::vector<Count>> wanted_;  ///< by memory and dim: fixed tile, 0 = free
  std::vector<Count> tiles_;
  std::array<std::array<Count, kMaxDims>, kMaxLevels> chosen_{};  ///< by level and dim: temporal bounds
  Mapping mapping_;
};

}  // namespace

bool for_each_legal_mapping(const SpaceRules& rules, const std::function<bool(const Mapping&)>& visit) {
  return Walk(rules, visit).run();
}

}  // namespace pliant
