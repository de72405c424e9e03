// SPDX-License-Identifier: Apache-2.0
// A plain dynamic programme over the nested tiles of one choice, perfect factors: the least of energy, of a port's
// cycles, or of a weighted sum of them, over all its mappings. No cut-offs and no other bounds.
//
// The nest is walked from the innermost memory outwards. The state is the node (see transfers.h) and, by tensor, since
// which memory its transfers wait for the loop that ends their run. A loop over a dim that no waiting tensor uses costs
// nothing; a loop over any other dim ends the run of the tensors that use it, which are charged there.
//
// Every mapping has a path whose cost is no more than the mapping's, so the least path is a lower bound. Paths that no
// mapping has (a dim that loops twice at a memory) cannot make it wrong, only weak; docs/audit.md has the argument.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "dse/audit/space_rules.h"
#include "dse/audit/transfers.h"

namespace pliant::audit {

/// What does not change from choice to choice: which dims may loop at which memory, and in which orders.
struct TileRules {
  TileRules(const SpaceRules& rules, const Problem& problem);

  const SpaceRules& space;
  /// Memories (indices of SpaceRules::memories and of Kept), from the inside out.
  std::vector<std::size_t> memories;
  /// By memory: alternatives, each a list of dim sets from the inside out; within a set any order is allowed. They
  /// allow every order that the rules do, and may allow more.
  std::vector<std::vector<std::vector<DimSet>>> orders;
  /// By memory: dims whose loop there may be moved to the next memory outside, where a slide along the dim goes on.
  /// A slide along another dim is charged as if it went on as far as it can.
  std::vector<DimSet> movable;
};

class NestedTiles {
 public:
  NestedTiles(const TileRules& rules, const Measures& measures, const ChoiceTransfers& transfers, const Kept& kept);

  static double nodes(const ChoiceTransfers& transfers);  ///< of the lattice: time and memory grow with it

  /// The least over all mappings of the sum over measures of weight * measure; infinity when no mapping fits.
  double least(const std::vector<double>& weights);
  /// The loops of a path with that sum, by memory as in SpaceRules, outermost first. A path need not be a mapping,
  /// so whoever wants one judges it and prices it.
  std::vector<std::vector<Loop>> least_loops(const std::vector<double>& weights);

 private:
  /// By tensor: the number of the transfer since which it waits; 0 = none waits.
  using Waiting = std::array<std::int8_t, kMaxTensors>;
  /// A path up to a node. It has come from the node of the record before by loops in any order, by one loop, or has
  /// come so and then left a memory.
  struct Record {
    enum class Way : std::uint8_t { kLoops, kOneLoop, kLeave } way = Way::kLoops;
    std::uint32_t before = 0, node = 0;
  };
  /// By node that is of use: the least cost to come there, and where paths are asked for the record of the path.
  struct Table {
    std::vector<double> cost;
    std::vector<std::uint32_t> record;
    void lower(std::uint32_t to, const Table& other, std::uint32_t from, std::uint32_t count);
  };
  using Tables = std::map<Waiting, Table>;

  void find_fitting(std::size_t k);
  double run(const std::vector<double>& weights);
  /// Notes for every node that the path stands there after such a step.
  void note(Table& table, Record::Way way);
  void merge(Tables& tables, const Waiting& waiting, Table&& table) const;
  void slide(Table& table, const Waiting& waiting, const std::vector<int>& sliding, int dim, std::size_t k);

  void weigh(const std::vector<double>& weights);
  void close_along(Table& table, int dim) const;
  void evolve(Tables& tables, DimSet dims, std::size_t k);
  void pass_moving_loop(const Waiting& waiting, const Table& from, Tables& tables, int dim, std::size_t k);
  Tables leave_memory(Tables tables, std::size_t k);
  /// Adds what the transfers of a tensor that wait at memory k cost when their run ends at the node.
  void charge(Table& table, int tensor, int since, std::size_t k);
  /// Cost by affine tile of the tensor, without repeats; dim >= 0: also by the bound of a sliding loop over it.
  const std::vector<double>& window_costs(int tensor, int since, std::size_t k, int dim);
  double window_cost(int tensor, int since, std::size_t k, const std::array<Count, kMaxDims>& tile, int dim,
                     Count bound) const;
  int last_waiting(int tensor, std::size_t k) const;
  int keeper_number(int tensor, std::size_t k) const;  ///< from the inside, 1 = innermost; of memories up to k
  bool keeps(int tensor, std::size_t k) const { return kept_[rules_.memories[k]] >> tensor & 1U; }
  int level(std::size_t k) const { return rules_.space.memories[rules_.memories[k]].level; }

  const TileRules& rules_;
  const Measures& measures_;
  const ChoiceTransfers& transfers_;
  const Problem& p_;
  const Kept& kept_;
  bool within_ = false;                       // runs end at the parent
  bool displaced_ = false;                    // words along windows are not a function of the node
  std::vector<std::vector<Count>> divisors_;  // by dim, ascending
  std::vector<std::vector<Count>> primes_;    // by dim, those among them
  std::vector<std::uint32_t> stride_;         // by dim
  std::uint32_t nodes_ = 1;
  std::vector<std::vector<double>> repeats_;             // by tensor and node: iterations of uncoupled dims outside
  std::vector<std::vector<std::uint32_t>> affine_node_;  // by tensor and node: its affine tile
  std::vector<std::vector<std::array<Count, kMaxDims>>> affine_tiles_;  // by tensor and affine tile
  std::vector<std::vector<char>> fits_;                                 // by memory and node
  std::vector<std::uint32_t> reach_;                                    // by memory: nodes below this are of use there
  // Of one run:
  std::vector<std::vector<double>> per_served_, per_delivered_;  // by tensor and transfer: weighted, per word
  double constant_ = 0;
  bool traced_ = false;
  std::vector<Record> records_;
  std::uint32_t best_record_ = 0;
  std::map<std::array<int, 4>, std::vector<double>> known_costs_;  // by tensor, since, memory, dim
};

}  // namespace pliant::audit
