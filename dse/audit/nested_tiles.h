// SPDX-License-Identifier: Apache-2.0
// A plain dynamic programme over the nested tiles of one choice, perfect factors: the least of energy, of a port's
// cycles, or of a weighted sum of them, over all its mappings.
//
// The nest is walked from the innermost memory outwards. The state is the node (see transfers.h) and, by tensor, since
// which memory its transfers wait for the loop that ends their run. A loop over a dim that no waiting tensor uses costs
// nothing; a loop over any other dim ends the run of the tensors that use it, which are charged there.
//
// Every mapping has a path whose cost is no more than the mapping's, so the least path is a lower bound. Paths that no
// mapping has (a dim that loops twice at a memory) cannot make it wrong, only weak; docs/audit.md has the argument.
//
// A path costs what it moves beyond the least that any mapping moves. Whoever wants to know no more than that nothing
// is below some sum says so: a path that is above it already is not followed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/arithmetic.h"
#include "dse/audit/tile_lattice.h"

namespace pliant::audit {

class NestedTiles {
 public:
  NestedTiles(const TileRules& rules, const ChoiceTransfers& transfers, const Kept& kept);

  /// The least over all mappings of the sum over measures of weight * measure; infinity when no mapping fits. Where it
  /// is not below `enough`: that, or more.
  double least(const std::vector<double>& weights, double enough = kInfinity);
  std::uint32_t nodes() const { return lattice_.nodes(); }
  /// May a mapping have this tile at the memory (counted from the inside)?
  bool ends(std::size_t memory, std::uint32_t node) { return lattice_.ends(memory, node); }
  /// Iterations in time inside it.
  Count inside(std::uint32_t node, int dim) const { return lattice_.divisors(dim)[lattice_.index(node, dim)]; }
  /// From here on only mappings with this tile there, or with any.
  void fix_tile(std::size_t memory, std::optional<std::uint32_t> node) { tile_[memory] = node; }
  /// And with these loops there, from the inside out; or with any.
  using Order = std::vector<DimSet>;  ///< each of one dim
  void fix_order(std::size_t memory, std::optional<Order> order) { order_[memory] = std::move(order); }
  /// The loops of a path with that sum, by memory as in SpaceRules, outermost first. A path need not be a mapping,
  /// so whoever wants one judges it and prices it.
  std::vector<std::vector<Loop>> least_loops(const std::vector<double>& weights);

 private:
  /// By tensor: the number of the transfer since which it waits; 0 = none waits.
  using Waiting = std::array<std::int8_t, kMaxTensors>;
  /// A path up to a node: it has come from the node of the record before by loops, the innermost over one of `first` if
  /// there are any, and may then have left a memory.
  struct Record {
    std::uint32_t before = 0, node = 0;
    DimSet first = 0;
    bool leaves = false;
  };
  /// Nodes to which paths lead, each once, in any order: the least cost to come there, and where paths are asked for
  /// the record of the path.
  struct Table {
    std::vector<std::uint32_t> node;
    std::vector<double> cost;
    std::vector<std::uint32_t> record;
    void remove(std::size_t place);
  };
  using Tables = std::map<Waiting, Table>;
  /// A table that grows: a node is found in it by its number.
  class Growing {
   public:
    Growing(Table& table, std::vector<std::uint32_t>& place);
    ~Growing();
    Growing(const Growing&) = delete;
    Growing& operator=(const Growing&) = delete;
    /// False: a path as good leads there.
    bool lower(std::uint32_t node, double cost, std::uint32_t record);

   private:
    Table& table_;
    std::vector<std::uint32_t>& place_;
  };
  /// Cost by window of a tensor, without repeats; of a slide by the index of the tile after it, too. Below 0: not
  /// known.
  using Costs = std::vector<double>;

  double run(const std::vector<double>& weights, double enough);
  void weigh(const std::vector<double>& weights);
  void evolve(Tables& tables, DimSet dims, std::size_t k);
  void end_runs(const Waiting& waiting, const Table& from, Tables& tables, TensorSet ending, DimSet dims,
                std::size_t k);
  void slide(const Waiting& waiting, const Table& from, Tables& tables, TensorSet ending, int dim, std::size_t k);
  Tables leave_memory(Tables tables, std::size_t k);
  void close_along(Table& table, int dim, std::size_t k);
  void merge(Tables& tables, const Waiting& waiting, Table&& table);
  /// Notes for every node that the path stands there; its next loop is over one of these dims, if any.
  void note(Table& table, DimSet next, bool leaves);

  /// Adds what the transfers of a tensor that wait at a memory cost when their run ends at the node.
  void charge(Table& table, int tensor, int since, std::size_t k);
  double cost_at(int tensor, int since, std::size_t k, std::uint32_t node, Costs& known) const;
  double window_cost(int tensor, int since, std::size_t k, const TileLattice::Tile& tile, int dim, Count bound) const;
  void find_slides(int tensor, int since, std::size_t k, int dim, std::uint32_t window, Costs& costs) const;
  Costs& costs_of(int tensor, int since, std::size_t k, int dim);
  bool slides(int tensor, int dim) const { return !displaced_ && (p_.sliding[tensor] >> dim & 1U) != 0; }
  double least_of(int tensor, int since, std::size_t k) const;
  int last_waiting(int tensor, std::size_t k) const;
  int keeper_number(int tensor, std::size_t k) const;  ///< from the inside, 1 = innermost; of memories up to k
  bool keeps(int tensor, std::size_t k) const { return kept_[rules_.memories[k]] >> tensor & 1U; }
  int level(std::size_t k) const { return rules_.space.memories[rules_.memories[k]].level; }

  const TileRules& rules_;
  const ChoiceTransfers& transfers_;
  const Problem& p_;
  const Kept& kept_;
  TileLattice lattice_;
  std::vector<std::uint32_t> place_;                // by node, of the table that grows; none: 0
  bool within_ = false;                             // runs end at the parent
  bool displaced_ = false;                          // words along windows are not a function of the node
  std::vector<std::optional<std::uint32_t>> tile_;  // by memory, where there is only one
  std::vector<std::optional<Order>> order_;         // by memory, where there is only one
  // Of one run:
  std::vector<std::vector<double>> per_served_, per_delivered_;  // by tensor and transfer: weighted, per word
  std::vector<std::vector<double>> least_;                       // by tensor and transfer: moved by any mapping
  double constant_ = 0;                                          // and what does not depend on tiles
  double most_ = kInfinity;                                      // beyond this paths are not followed
  bool traced_ = false;
  std::vector<Record> records_;
  std::uint32_t best_record_ = 0;
  std::map<std::array<int, 4>, Costs> known_costs_;  // by tensor, since, memory, dim
};

}  // namespace pliant::audit
