// SPDX-License-Identifier: Apache-2.0
// The dynamic programme over nested tiles where factors leave remainders. It is that of nested_tiles.h with three
// differences: a loop rounds, so that a dim has other tiles than its divisors; tiles of about the same size may be one
// node, which is charged as its best tile would be; and the words of a transfer are not equal to what the cost model
// counts but at most that, by one argument: iterations that count cover the whole dim, and each covers no more than the
// product of the bounds that do not count.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "dse/audit/tile_lattice.h"

namespace pliant::audit {

/// The tiles that one dim can have, where the unrolling is known.
struct RemainderAxis {
  struct Group {
    std::vector<Count> tiles;  ///< ascending: products of all bounds inside, fanouts included
    Count least() const { return tiles.front(); }
    Count most() const { return tiles.back(); }
  };
  /// At a memory, or behind all of them.
  struct Stage {
    std::vector<Group> groups;                       ///< ascending
    std::vector<std::vector<std::uint32_t>> loops;   ///< by group: where one loop leads, ascending
    std::vector<std::vector<std::uint32_t>> onward;  ///< by group: where it is at the next stage
  };
  std::vector<Stage> stages;  ///< by memory from the inside out, and the end, where the dim is complete
  std::size_t groups(std::size_t stage) const { return stages[stage].groups.size(); }
};

/// What choices of one task have in common. For many threads.
class RemainderTables {
 public:
  /// `alike`: tiles within such a factor are one group; 1 = every tile by itself. nullptr: too many tiles.
  std::shared_ptr<const RemainderAxis> axis(const TileRules& rules, const ChoiceTransfers& transfers, int dim,
                                            bool loops_divide, double alike);

  /// Iterations of a dim whose words are counted together: so many next to each other, or anywhere.
  struct Block {
    Count inside = 1, shared = 1;  ///< tile / inside * shared
    bool together = true;
    auto operator<=>(const Block&) const = default;
  };
  using BlockOfTerm = std::array<Block, kMaxDims>;
  /// By group of each term's dim at a stage, the first one fastest: words along one rank, at least.
  using Axes = std::array<std::shared_ptr<const RemainderAxis>, kMaxDims>;
  std::shared_ptr<const std::vector<double>> words(const Problem& problem, const Problem::AffineRank& rank,
                                                   const Axes& axes, std::size_t stage, const BlockOfTerm& blocks);

 private:
  std::mutex mutex_;
  std::map<std::vector<Count>, std::shared_ptr<const RemainderAxis>> axes_;
  std::map<std::vector<std::int64_t>, std::shared_ptr<const std::vector<double>>> words_;
};

class RemainderTiles {
 public:
  RemainderTiles(const TileRules& rules, const ChoiceTransfers& transfers, const Kept& kept,
                 Factorization factorization, RemainderTables& tables, double alike);

  double nodes() const { return most_nodes_; }  ///< of the largest stage: time and memory grow with it

  /// By node at which complete mappings end: they take so many steps, or no fewer. None: there are no mappings.
  const std::vector<double>& steps();
  /// Beside these: the least over them of the sum over measures of weight * measure, without constants.
  std::vector<double> least(const std::vector<double>& weights);

 private:
  using Waiting = std::array<std::int8_t, kMaxTensors>;  // as in NestedTiles
  using Table = std::vector<double>;                     // by node of a stage
  using Tables = std::map<Waiting, Table>;
  /// What a transfer costs that slides along a dim of a rank.
  struct Slide {
    const Problem::AffineRank* rank;
    const Table* rest;                                 // words but for the rank, by node
    std::shared_ptr<const std::vector<double>> words;  // of the rank, with the tile that the slide leads to
    double cost, cost_of_more, most_first;             // of a word, of every word beyond those that come first
  };

  void find_fitting(std::size_t k);
  void lower_along(Table& table, int dim, std::size_t k) const;
  void slide_along(Table& table, int dim, const std::vector<Slide>& slides, std::size_t k) const;
  void evolve(Tables& tables, DimSet dims, std::size_t k);
  void pass_moving_loop(const Waiting& waiting, Table table, Tables& tables, int dim, std::size_t k);
  Tables leave_memory(Tables tables, std::size_t k);
  Table onward(const Table& table, std::size_t k) const;
  void merge(Tables& tables, const Waiting& waiting, Table&& table) const;
  void charge(Table& table, int tensor, int since, std::size_t k);
  void add_slides(std::vector<Slide>& slides, int tensor, int since, std::size_t k, int dim);
  /// Words that are served or delivered when a run ends at memory k, by node; without those of one rank, if asked.
  const Table& words(int tensor, std::size_t transfer, std::size_t k, bool at_parent, int without = -1);
  /// By dim and group: the fewest iterations that count when a run ends at memory k. Empty: the dim does not count.
  std::vector<std::vector<double>> fewest(const Transfer& transfer, std::size_t k, bool at_parent) const;
  RemainderTables::BlockOfTerm blocks(const Problem::AffineRank& rank, const Transfer& transfer, std::size_t k,
                                      bool at_parent, int sliding) const;
  /// By node of a stage, its place in a table by the groups of a rank's dims.
  std::vector<std::uint32_t> rank_index(const Problem::AffineRank& rank, std::size_t stage) const;
  template <typename Visit>
  void along(int dim, std::size_t stage, const Visit& visit) const;
  int last_waiting(int tensor, std::size_t k) const;
  int keeper_number(int tensor, std::size_t k) const;
  double weighed(const std::vector<double>& by_measure) const;
  bool keeps(int tensor, std::size_t k) const { return kept_[rules_.memories[k]] >> tensor & 1U; }
  int level(std::size_t k) const { return rules_.space.memories[rules_.memories[k]].level; }
  const RemainderAxis::Stage& stage(int dim, std::size_t k) const { return axes_[dim]->stages[k]; }

  const TileRules& rules_;
  const ChoiceTransfers& transfers_;
  const Problem& p_;
  const Kept& kept_;
  const bool loops_divide_;  // only fanouts round, if anything
  RemainderTables& tables_;
  bool within_ = false, displaced_ = false;
  RemainderTables::Axes axes_;
  std::vector<std::vector<std::uint32_t>> stride_;  // by stage and dim
  std::vector<std::uint32_t> nodes_;                // by stage
  double most_nodes_ = 0;
  std::vector<std::vector<char>> fits_;  // by memory and node
  std::vector<double> steps_;            // by node of the last stage
  std::map<std::array<int, 5>, Table> words_;
  std::vector<double> weights_;  // of this run
};

}  // namespace pliant::audit
