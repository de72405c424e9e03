// SPDX-License-Identifier: Apache-2.0
// The map-space of a task with every name resolved: which slots a dim may use, which tiles, orders, assignments and
// shapes the flexibility allows, as masks and numbers. The searches that walk mappings one by one (exhaustive, random,
// local, genetic) share it; what they find is judged again by core/legality.h, which shares nothing with it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/mapping.h"
#include "costmodel/nest.h"
#include "costmodel/problem.h"
#include "dse/mappers/mapper.h"
#include "flex/mapspace/count.h"

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
  std::array<std::array<std::uint8_t, kMaxDims>, kMaxLevels> order{};  ///< all dims, outermost first
  std::array<TensorSet, kMaxLevels> keeps{};
};

class Space {
 public:
  /// The task must outlive the space.
  explicit Space(const Task& task);

  const Task& task;
  Problem problem;
  int dims = 0, levels = 0;
  std::array<DimSlots, kMaxDims> slots;                      ///< by dim, outermost first
  std::vector<int> memories, fanouts;                        ///< levels, outermost first
  std::array<std::vector<TensorSet>, kMaxLevels> keep_sets;  ///< choices of each memory

  /// A chain from bounds by slot of the dim (as for_each_chain gives them).
  Chain make_chain(int dim, std::span<const Count> bounds) const;
  /// T, per dim: fixed tiles.
  bool tiles_allowed(int dim, const Chain& chain) const;
  /// All chains of one dim that its slots and fixed tiles allow, innermost slots varying slowest.
  std::vector<Chain> chains(int dim) const;

  /// P and S of one fanout, from the products of both sides and the dims on them.
  bool fanout_allowed(int level, Count rows, Count cols, DimSet row_dims, DimSet col_dims) const;
  /// P and S of all fanouts; dims from `first_free` on count as not placed.
  bool fanouts_allowed(const Candidate& candidate, int first_free) const;
  /// Capacity and partition of one memory.
  bool memory_allowed(int level, const Candidate& candidate, TensorSet keeps, int first_free) const;
  /// O of one memory: the dims that loop there, outermost first.
  bool order_allowed(int level, std::span<const std::uint8_t> loops) const;
  bool any_order(int level) const { return order_rules_[level].empty(); }
  /// Every allowed order of the given loops, each a full list of dims with the loops first.
  std::vector<std::array<std::uint8_t, kMaxDims>> orders(int level, DimSet loops) const;

  /// One allowed order of the given loops: any dim that a (randomly chosen) rule lets stand next, chosen by `below`,
  /// which returns a number less than its argument. A full list of dims with the loops first.
  template <typename Below>
  std::array<std::uint8_t, kMaxDims> choose_order(int level, DimSet loops, Below below) const {
    const Precedence none{};
    const std::vector<Precedence>& rules = order_rules_[level];
    const Precedence& before = rules.empty() ? none : rules[below(rules.size())];
    std::array<std::uint8_t, kMaxDims> order{}, ready;
    int n = 0;
    for (DimSet placed = 0; placed != loops;) {
      std::size_t count = 0;
      for (int d = 0; d < dims; ++d)
        if (((loops & ~placed) >> d & 1U) != 0 && (before[d] & loops & ~placed) == 0)
          ready[count++] = static_cast<std::uint8_t>(d);
      if (count == 0) break;  // rules that contradict themselves; the caller checks
      order[n] = ready[below(count)];
      placed |= DimSet{1} << order[n++];
    }
    for (int d = 0; d < dims; ++d)
      if ((loops >> d & 1U) == 0) order[n++] = static_cast<std::uint8_t>(d);
    return order;
  }

  /// Everything that ties dims together.
  bool legal(const Candidate& candidate) const;

  DimSet loops_at(int level, const Candidate& candidate) const;
  double footprint(int level, int tensor, const Candidate& candidate, int first_free) const;
  FlatMapping flat(const Candidate& candidate) const;
  Mapping mapping(const Candidate& candidate) const;

 private:
  using Precedence = std::array<DimSet, kMaxDims>;  ///< by dim: the dims that must stand outside it

  void resolve_orders(int level, const OrderRule& rule);
  Count clipped_tile(Count fixed, Count size) const;

  std::array<std::array<Count, kMaxDims>, kMaxLevels> fixed_tile_{};  ///< 0 = free
  std::array<std::vector<Precedence>, kMaxLevels> order_rules_;       ///< any of them; empty = any order
  struct Sides {
    DimSet rows = 0, cols = 0;
  };
  std::array<std::vector<Sides>, kMaxLevels> assignments_;  ///< any of them; empty = any dims
  std::array<int, kMaxLevels> dims_per_side_{};             ///< 0 = no limit
  std::array<ShapeRule, kMaxLevels> shape_;
  std::array<std::array<double, kRoles>, kMaxLevels> share_{};  ///< words per role; infinity = no partition
  std::array<bool, kMaxLevels> limited_{};                      ///< memory has a capacity
};

/// Prices candidates. Padding changes the layer: one problem per padded size, made when first met.
class Pricer {
 public:
  explicit Pricer(const Space& space);
  /// The nest of this candidate, loaded with all of it. It stays valid until the next load.
  Nest& load(const Candidate& candidate);
  /// Prices the nest loaded last, after any changes made to it.
  Totals price();

 private:
  struct Padded {
    Problem problem;
    Nest nest;
    double useful = 1;  ///< share of the padded MACs that the layer asked for
    Padded(const Layer& layer, const Accelerator& accelerator, double macs)
        : problem(layer, accelerator), nest(problem), useful(macs / problem.macs) {}
  };

  const Space& space_;
  Nest nest_;
  std::map<std::array<Count, kMaxDims>, std::unique_ptr<Padded>> padded_;
  Nest* current_ = nullptr;
  double useful_ = 1;
};

/// A better than B? Ties: energy, then cycles; the earlier one stays.
bool better(double value_a, const Totals& a, double value_b, const Totals& b);

}  // namespace pliant
