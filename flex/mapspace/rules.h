// SPDX-License-Identifier: Apache-2.0
// What the flexibility rules mean for one layer on one accelerator, with every name resolved. Everything that counts,
// lists, draws or searches mappings reads the rules here and nowhere else: flex/mapspace, flex/flexion, and all mappers
// with their proofs. The checker in core/legality.h reads them by itself and shares nothing with this file.
// docs/adding-a-rule.md says what a new rule needs.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "core/accelerator.h"
#include "core/layer.h"
#include "core/mapping.h"
#include "flex/mapspace/factors.h"
#include "flex/mapspace/footprint.h"
#include "flex/mapspace/order_rules.h"

namespace pliant {

/// The rules of one memory.
struct MemoryRules {
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();

  int level = 0;
  /// Capacities, shares and bursts are counted in units, the widest of which words and all elements here are multiples:
  /// words, where all are as wide as a word.
  double capacity = kUnlimited;                      ///< usable units: what is not reserved / buffers; < 0: too little
  double word = 1;                                   ///< units of a word
  std::array<double, kMaxTensors> element{};         ///< by tensor: units of an element
  TensorSet resident = 0;                            ///< live here whole: their tiles take no room of their own
  std::optional<std::array<double, kRoles>> shares;  ///< hard partition as written; empty = soft
  /// Units of each role; unlimited without a partition.
  std::array<double, kRoles> share_units{kUnlimited, kUnlimited, kUnlimited};
  double burst = 1;                       ///< words; every held tile is a multiple of it
  bool has_fixed_tile = false;            ///< a tile is fixed, if only along dims of other layers
  std::array<Count, kMaxDims> fixed{};    ///< by dim: tile held here, as written; 0 = free
  DimSet may_loop = 0;                    ///< dims of size > 1 that may loop here
  TensorSet may_keep = 0, must_keep = 0;  ///< the outermost memory that may hold a tensor must
  std::vector<TensorSet> keeps;           ///< all choices of kept tensors
  OrderRules orders;
  std::array<Role, kMaxTensors> role{};  ///< by tensor
  int tensors = 0;

  bool is_limited() const { return capacity < kUnlimited; }
  /// No rule looks at the words of a tile.
  bool holds_everything() const { return !is_limited() && burst == 1; }

  /// Do tiles of these words exceed a limit that larger tiles exceed as well? What overflows while some dims are not
  /// placed yet, and counted as 1, overflows for good. `words(x)` are the elements of tensor x, asked of kept ones
  /// only.
  template <typename Words>
  bool overflows(TensorSet kept, const Words& words) const {
    if (!is_limited()) return false;
    double total = 0;
    std::array<double, kRoles> by_role{};
    kept &= ~resident;
    for (int x = 0; x < tensors; ++x) {
      if ((kept >> x & 1U) == 0) continue;
      const double held = words(x) * element[static_cast<std::size_t>(x)];
      total += held;
      if (shares) by_role[static_cast<std::size_t>(role[static_cast<std::size_t>(x)])] += held;
    }
    if (total > capacity) return true;
    if (!shares) return false;
    for (std::size_t r = 0; r < kRoles; ++r)
      if (by_role[r] > share_units[r]) return true;
    return false;
  }

  /// May the complete tiles of these words be held?
  template <typename Words>
  bool holds(TensorSet kept, const Words& words) const {
    if (overflows(kept, words)) return false;
    kept &= ~resident;
    for (int x = 0; x < tensors && burst > 1; ++x)
      if ((kept >> x & 1U) != 0 && std::fmod(words(x) * element[static_cast<std::size_t>(x)], burst * word) != 0)
        return false;
    return true;
  }

  /// Is a tile that is smaller along the dim allowed wherever a larger one is? Proofs that take the smaller of two
  /// tiles as no worse ask this first.
  bool allows_smaller(int dim) const { return fixed[static_cast<std::size_t>(dim)] == 0 && burst == 1; }
};

/// The rules of one fanout.
struct FanoutRules {
  /// Dims that one assignment lets run over each side.
  struct Sides {
    DimSet rows = 0, cols = 0;
    /// The assignment names a dim that this layer does not loop over, or none: the side may stand idle.
    bool rows_idle = false, cols_idle = false;
  };

  int level = 0;
  Count rows = 1, cols = 1;
  std::vector<Sides> assignments;  ///< any of these; without a rule one with all dims on both sides
  bool any_dims = true;            ///< no assignment was written
  int max_dims_per_side = kMaxDims;

  Count units() const { return rows * cols; }
  bool any_shape() const { return shape_.kind == ShapeRule::Kind::kFree; }
  /// Most columns that stand beside so many rows; 0 = no allowed shape has that many rows.
  Count columns_beside(Count used_rows) const;
  /// How long a side can be made, whatever the other side is then.
  Count longest(Side side) const;
  /// Numbers of rows that an array may be given, ascending; the columns are floor(units / rows).
  std::vector<Count> row_counts() const;

  /// Some allowed shape has that many rows and columns.
  bool holds(Count used_rows, Count used_cols) const { return used_cols <= columns_beside(used_rows); }
  /// Some assignment explains the dims on both sides.
  bool assigns(DimSet over_rows, DimSet over_cols) const;
  bool may_run_over(Side side, int dim) const;

 private:
  friend FanoutRules fanout_rules(const Layer&, const Accelerator&, const LevelFlexibility&, int);
  ShapeRule shape_;
};

/// The rules of one level by themselves, for measures of one axis.
MemoryRules memory_rules(const Layer& layer, const Accelerator& accelerator, const LevelFlexibility& rules, int level);
FanoutRules fanout_rules(const Layer& layer, const Accelerator& accelerator, const LevelFlexibility& rules, int level);

/// Rules of a level; unrestricted where the flexibility does not speak about it.
const LevelFlexibility& level_rules(const Flexibility& flexibility, std::size_t level);

struct MapSpaceRules {
  /// The layer and the accelerator must outlive the rules.
  MapSpaceRules(const Layer& layer, const Accelerator& accelerator, const Flexibility& flexibility,
                Factorization factorization);

  const Layer& layer;
  const Accelerator& accelerator;
  Factorization factorization;
  std::vector<MemoryRules> memories;  ///< outermost first
  std::vector<FanoutRules> fanouts;   ///< outermost first
  /// By dim: where it may have a loop, outermost first. The limit of a side is the longest that side can be.
  std::vector<std::vector<Slot>> slots;
  Footprint footprint;

  bool is_memory(int level) const { return memory_at_[static_cast<std::size_t>(level)] >= 0; }
  bool is_fanout(int level) const { return fanout_at_[static_cast<std::size_t>(level)] >= 0; }
  const MemoryRules& memory(int level) const {
    return memories[static_cast<std::size_t>(memory_at_[static_cast<std::size_t>(level)])];
  }
  const FanoutRules& fanout(int level) const {
    return fanouts[static_cast<std::size_t>(fanout_at_[static_cast<std::size_t>(level)])];
  }

  /// The tile that a memory must hold along a dim of this (padded) size; 0 = any.
  Count fixed_tile(const MemoryRules& memory, int dim, Count size) const {
    const Count fixed = memory.fixed[static_cast<std::size_t>(dim)];
    return fixed == 0 ? 0 : reachable_tile(fixed, size, factorization);
  }
  /// MemoryRules::allows_smaller at every memory.
  bool allows_smaller_tiles(int dim) const;

 private:
  std::vector<int> memory_at_, fanout_at_;  ///< by level: index, or -1
};

}  // namespace pliant
