// SPDX-License-Identifier: Apache-2.0
// What the rules of a task permit, read by the auditor from the rules as written: flex/mapspace/rules.h, by which the
// mappers search, must not hide a mapping from it. core/legality.h, which reads them a third time, judges in tests.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "core/accelerator.h"
#include "core/layer.h"
#include "core/mapping.h"
#include "dse/audit/widths.h"

namespace pliant::audit {

std::vector<Count> divisors_of(Count n);  ///< ascending

/// One way to order the loops of a memory: `sequence` from the outside in, dims that it does not name anywhere; and
/// each set of `outside` before all dims that are not in it.
struct AllowedOrder {
  std::vector<int> sequence;
  std::vector<DimSet> outside;
  bool allows(std::span<const int> loops) const;  ///< from the outside in
};

struct MemoryRules {
  int level = 0;
  std::vector<TensorSet> keeps;      ///< all sets of tensors that may be kept
  DimSet may_loop = 0;               ///< dims of more than one iteration
  std::vector<AllowedOrder> orders;  ///< any of them; none: every order
  bool allows(std::span<const int> loops) const;

  /// By dim: the tile that must stand here, as written; 0 = any.
  std::array<Count, kMaxDims> fixed{};
  bool has_fixed_tile = false;
  /// Is a smaller tile allowed wherever a larger one is?
  bool allows_smaller(int dim) const { return fixed[static_cast<std::size_t>(dim)] == 0 && burst_bits == 0; }

  bool limited = false;
  double capacity_bits = 0;
  bool divided = false;
  std::array<double, kRoles> share_bits{};    ///< where it is divided
  double burst_bits = 0;                      ///< every tile is a multiple of it; 0 = of anything
  std::array<double, kMaxTensors> element{};  ///< bits
  std::array<std::size_t, kMaxTensors> role{};
  TensorSet living = 0;  ///< tensors that live here whole; their tiles take no room
  bool holds_everything() const { return !limited && burst_bits == 0; }
  /// May tiles with these elements be held? Never no where it is yes: what is not known exactly is allowed.
  bool holds(TensorSet kept, const TileElements& elements, const std::array<Count, kMaxDims>& tile_sizes) const;
};

struct FanoutRules {
  int level = 0;
  /// So many rows and columns at once?
  bool holds(Count rows, Count cols) const;
  /// Dims over rows and over columns at once?
  bool assigns(DimSet over_rows, DimSet over_cols) const;
  /// May the dim run over the side, whatever else does?
  bool may_run(int dim, Side side) const;

  Fanout array;
  ShapeRule shape;
  std::size_t most_dims = kMaxDims;                ///< on each side
  std::vector<std::array<DimSet, 2>> assignments;  ///< by Side
};

struct SpaceRules {
  /// The layer outlives the rules.
  SpaceRules(const Layer& layer, const Accelerator& accelerator, const Flexibility& flexibility,
             Factorization factorization);
  const Layer& layer;
  Factorization factorization;
  std::vector<MemoryRules> memories;  ///< outermost first
  std::vector<FanoutRules> fanouts;   ///< outermost first
  TileElements elements;

  /// The tile that must stand in a memory along a dim of so many iterations: no larger than the dim, and where loops in
  /// time must divide, the largest divisor that the rule allows. 0 = any.
  Count fixed_tile(const MemoryRules& memory, int dim, Count whole) const;
  /// May a loop in space, or in time, leave a remainder?
  bool rounds(bool in_space) const;
};

}  // namespace pliant::audit
