// SPDX-License-Identifier: Apache-2.0
// The rules of one map-space with every name resolved: what the generators of mappings walk. The checker in
// core/legality.h reads the rules by itself and shares none of this.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/accelerator.h"
#include "core/layer.h"
#include "core/mapping.h"
#include "flex/mapspace/order_space.h"

namespace pliant {

struct MemoryRules {
  int level = 0;
  std::optional<Count> capacity_words;                    ///< usable: capacity / buffers
  std::optional<std::array<double, kRoles>> share_words;  ///< hard partition, in words
  std::vector<Count> fixed;                               ///< by dim, as written; 0 = free
  DimSet may_loop = 0;                                    ///< dims of size > 1 that may loop here
  std::vector<TensorSet> keeps;                           ///< choices of kept tensors
  OrderSpace orders;
};

struct FanoutRules {
  int level = 0;
  Count rows = 1, cols = 1;
  ShapeRule shape;
  std::vector<std::pair<DimSet, DimSet>> assignments;  ///< dims allowed over rows, over columns; empty = any
  int max_dims_per_side = 0;

  Count units() const { return rows * cols; }
  bool holds(Count used_rows, Count used_cols) const;  ///< some allowed shape has that many rows and columns
  bool assigns(DimSet over_rows, DimSet over_cols) const;
};

/// One place where a dim may have a loop.
struct LoopSlot {
  int level = 0;
  bool spatial = false;
  Side side = Side::kCols;
  Count limit = 0;  ///< largest bound; 0 = no limit
};

struct SpaceRules {
  SpaceRules(const Layer& layer, const Accelerator& accelerator, const Flexibility& flexibility, Factorization rule);

  Layer layer;
  Accelerator accelerator;
  Flexibility flexibility;
  Factorization rule;
  std::vector<int> memory_at, fanout_at;  ///< by level: index below, or -1
  std::vector<MemoryRules> memories;
  std::vector<FanoutRules> fanouts;
  std::vector<std::vector<LoopSlot>> slots;  ///< by dim, innermost first

  /// Words of a tensor's tile, in floating point: exact below 2^53 and never too small above.
  double words(int tensor, std::span<const Count> tiles) const;
  /// Do the kept tensors' tiles fit the memory and its partition?
  bool fits(const MemoryRules& memory, TensorSet keeps, std::span<const Count> tiles) const;
};

/// Bounds that a slot may take when `tile` lies inside it, ascending; `size` is the (padded) size of the dim.
std::vector<Count> slot_bounds(Count size, Count tile, const LoopSlot& slot, Factorization rule);

/// The tile after a loop of that bound.
inline Count grown_tile(Count tile, Count bound, Count size) {
  return tile > size / bound ? size : std::min(size, tile * bound);
}

}  // namespace pliant
