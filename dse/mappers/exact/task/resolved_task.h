// SPDX-License-Identifier: Apache-2.0
// What never changes for a task: which loops its memories may have, in which orders, and what the conventions imply.
#pragma once

#include <tbb/enumerable_thread_specific.h>

#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "costmodel/bits.h"
#include "costmodel/short_windows.h"
#include "dse/mappers/exact/task/spatial.h"
#include "flex/mapspace/rules.h"

namespace pliant::exact {

/// The loop orders that one memory may have, read in two ways.
struct MemoryOrders {
  MemoryOrders(const OrderRules& rules, DimSet dims);

  /// For single orders: the loops that must lie inside each, if they are there at all. Loops that must lie inside each
  /// other exclude each other.
  struct Precedence {
    std::array<DimSet, kMaxDims> inside{};
    bool free = true;  ///< nothing is asked
    auto operator<=>(const Precedence&) const = default;
    /// Of some loops still to be placed from the inside out, those that may come next.
    DimSet ready(DimSet left) const {
      if (free) return left;
      DimSet set = 0;
      for (const int d : members(left))
        if ((inside[d] & left) == 0) set |= only(d);
      return set;
    }
  };
  std::vector<Precedence> precedences;  ///< any of them
  /// For tables: sequences of groups of dims from the inside out; dims of a group stand in any order. Every allowed
  /// order follows one of the sequences. A dim may be in several groups of a sequence and still has one loop: a path
  /// that grows it in two of them costs no less than the mapping that grows it in the inner one by both factors, for
  /// that moves nothing more and leaves fewer iterations to what comes later.
  std::vector<std::vector<DimSet>> sequences;
};

/// Something that a later room makes of a task when it asks for it first.
template <typename T>
class MadeOnce {
 public:
  T& get() const {
    std::call_once(flag_, [this] { made_ = std::make_shared<T>(); });
    return *made_;
  }

 private:
  mutable std::once_flag flag_;
  mutable std::shared_ptr<T> made_;
};
struct AxisCache;    // chain/axis.h
class KnownCharges;  // words/known_charges.h

struct ResolvedTask {
  ResolvedTask(const Task& task, const Problem& problem);

  /// Dims whose loops may leave an operand at the compute units, by its innermost keeper (quickflow only).
  DimSet staying(int tensor, int keeper) const;

  /// May a slide along the dim go on from this memory through loops further out, and the mapping be better than the one
  /// with all of these loops at the outermost of them? That one has a path of its own, so where it is as good nothing
  /// need be charged less (docs/dev/proof, L5).
  bool slide_may_be_divided(int memory, int dim) const;
  bool units_may_hold(const Port& array) const;
  /// Does a transfer of this tensor repeat with every loop outside its parent? (Remembered displacements see through
  /// all loops outside the child: one that does not move the tile costs nothing, wherever it stands.)
  bool ends_at_parent(int tensor) const { return within && !contains(remembered, tensor); }

  const Task& task;
  const Problem& problem;
  const MapSpaceRules rules;
  bool perfect = true;               ///< no remainders anywhere
  std::vector<int> memories;         ///< levels, from the innermost outwards
  std::vector<DimSet> may_loop;      ///< by memory
  std::vector<MemoryOrders> orders;  ///< by memory
  bool within = false;               ///< stationarity ends at the parent
  bool one_loop = false;             ///< quickflow's window rule
  bool compute_runs = false;         ///< quickflow: operands may stay at the compute units
  TensorSet remembered = 0;  ///< tensors whose displacements are remembered as soon as two loops move their windows
  bool walks = false;        ///< timeloop's window memory: words are not a function of the node
  /// Orders of loops that move nothing pending differ: displacements are remembered, a slide may go on further out, or
  /// units of a systolic array hold a word of their own, which any loop may move.
  bool every_order = false;
  MadeOnce<AxisCache> axis_cache;        ///< chains of dims that were built before
  MadeOnce<KnownCharges> known_charges;  ///< what was counted along them
  mutable tbb::enumerable_thread_specific<ShortWindowMemory> short_windows;
};

/// Units of those of these fanouts that are open, at most.
inline double open_units(const ResolvedTask& resolved, const Spatial& spatial, std::uint32_t fanouts) {
  double units = 1;
  for (const int l : members(spatial.open & fanouts)) units *= static_cast<double>(resolved.rules.fanout(l).units());
  return units;
}

}  // namespace pliant::exact
