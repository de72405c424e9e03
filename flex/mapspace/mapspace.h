// SPDX-License-Identifier: Apache-2.0
// The map-space of a layer on an accelerator, as searches walk it: mappings put together from one factor chain for each
// dim, one order and one set of kept tensors for each memory. What a rule means is in flex/mapspace/rules.h; whatever
// is found here is judged again by core/legality.h, which shares nothing with it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/accelerator.h"
#include "core/layer.h"
#include "core/mapping.h"
#include "flex/mapspace/rules.h"

namespace pliant {

/// One dim's loops, by level; at a fanout, bound = rows * cols.
struct Chain {
  std::array<Count, kMaxLevels> bound{};
  std::array<Count, kMaxLevels> rows{}, cols{};
  std::array<Count, kMaxLevels> tile{};  ///< what is held at a level along the dim, clipped to its (padded) size
  Count size = 1;                        ///< the dim's size, padded if need be
};

/// A mapping as the searches hold it. The chains are owned elsewhere and must outlive it.
struct Candidate {
  std::array<const Chain*, kMaxDims> chain{};
  std::array<LoopOrder, kMaxLevels> order{};
  std::array<TensorSet, kMaxLevels> keeps{};
};

class MapSpace {
 public:
  /// The layer and the accelerator must outlive the space.
  MapSpace(const Layer& layer, const Accelerator& accelerator, const Flexibility& flexibility,
           Factorization factorization = Factorization::kPerfect);

  MapSpaceRules rules;
  int dims = 0, levels = 0;            ///< levels without the compute level
  std::vector<int> memories, fanouts;  ///< levels, outermost first

  const std::vector<Slot>& slots(int dim) const { return rules.slots[static_cast<std::size_t>(dim)]; }
  Count size(int dim) const { return rules.layer.dims[static_cast<std::size_t>(dim)].size; }

  /// A chain from bounds by slot of the dim (as for_each_chain gives them).
  Chain make_chain(int dim, std::span<const Count> bounds) const;
  /// T, per dim: fixed tiles.
  bool tiles_allowed(int dim, const Chain& chain) const;
  /// All chains of one dim that its slots and fixed tiles allow, innermost slots varying slowest.
  std::vector<Chain> chains(int dim) const;

  /// P and S of all fanouts; dims from `first_free` on count as not placed.
  bool fanouts_allowed(const Candidate& candidate, int first_free) const;
  /// Would the kept tensors overflow this memory whatever the dims from `first_free` on are given?
  bool memory_overflows(int level, const Candidate& candidate, TensorSet keeps, int first_free) const;
  /// May this memory hold the kept tensors' tiles? All dims are placed.
  bool memory_allowed(int level, const Candidate& candidate, TensorSet keeps) const;

  /// Choices of kept tensors of one memory, and the set that keeps least.
  const std::vector<TensorSet>& keep_sets(int level) const { return rules.memory(level).keeps; }
  TensorSet least_kept(int level) const { return rules.memory(level).must_keep; }

  bool any_order(int level) const { return rules.memory(level).orders.any_order(); }
  /// Every allowed order of the given loops at one memory.
  std::vector<LoopOrder> orders(int level, DimSet loops) const { return rules.memory(level).orders.list(loops); }

  bool order_allowed(int level, const Candidate& candidate) const;

  /// Every rule.
  bool legal(const Candidate& candidate) const;

  DimSet loops_at(int level, const Candidate& candidate) const;
  Mapping mapping(const Candidate& candidate) const;
};

}  // namespace pliant
