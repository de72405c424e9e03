// SPDX-License-Identifier: Apache-2.0
// The dynamic programme over nested tiles where factors leave remainders. It is that of nested_tiles.h with two
// differences: a node knows what is left of each dim besides its tile, because a loop rounds; and the words of a
// transfer are not equal to what the cost model counts but at most that, by one argument: iterations that count cover
// the whole dim, and each covers no more than the product of the bounds that do not count.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "dse/audit/nested_tiles.h"

namespace pliant::audit {

class RemainderTiles {
 public:
  RemainderTiles(const TileRules& rules, const Measures& measures, const ChoiceTransfers& transfers, const Kept& kept,
                 Factorization factorization);

  double nodes() const { return nodes_; }  ///< time and memory grow with it

  /// Complete mappings that end at one node: they take the same steps, or no fewer where loops in time round too.
  struct End {
    double steps = 0;
    std::vector<double> least;  ///< by measure, over all of them
  };
  std::vector<End> ends();

 private:
  struct State {
    Count tile = 1, left = 1;  // product of all bounds inside, fanouts included; iterations still to be placed
    auto operator<=>(const State&) const = default;
  };
  struct Axis {
    std::vector<State> states;                        // ascending
    std::vector<std::vector<std::uint32_t>> loops;    // by state: where one loop leads
    std::vector<std::vector<std::uint32_t>> through;  // by level of a fanout and state: where it leads
  };
  using Waiting = std::array<std::int8_t, kMaxTensors>;  // as in NestedTiles
  using Table = std::vector<double>;                     // by node
  using Tables = std::map<Waiting, Table>;

  void build_axis(int dim);
  std::uint32_t at(std::uint32_t node, int dim) const {
    return node / stride_[dim] % static_cast<std::uint32_t>(axes_[dim].states.size());
  }
  Table run(std::size_t measure);
  void lower_along(Table& table, int dim) const;
  void evolve(Tables& tables, DimSet dims, std::size_t k) const;
  void pass_moving_loop(const Waiting& waiting, Table table, Tables& tables, int dim, std::size_t k) const;
  Tables leave_memory(Tables tables, std::size_t k) const;
  Table through_fanout(const Table& table, int level) const;
  void merge(Tables& tables, const Waiting& waiting, Table&& table) const;
  void charge(Table& table, int tensor, int since, std::size_t k) const;
  /// By dim and state: the fewest iterations that count when a run ends at memory k. Empty: the dim does not count.
  std::vector<std::vector<double>> fewest(const Transfer& transfer, std::size_t k, bool served) const;
  bool keeps(int tensor, std::size_t k) const { return kept_[rules_.memories[k]] >> tensor & 1U; }
  int level(std::size_t k) const { return rules_.space.memories[rules_.memories[k]].level; }
  int keeper_number(int tensor, std::size_t k) const;

  const TileRules& rules_;
  const Measures& measures_;
  const ChoiceTransfers& transfers_;
  const Problem& p_;
  const Kept& kept_;
  const bool loops_divide_;  // only fanouts round
  bool within_ = false, displaced_ = false;
  std::vector<Axis> axes_;
  std::vector<std::uint32_t> stride_;
  double nodes_ = 1;
  std::vector<std::vector<char>> fits_;  // by memory and node; made by the first run
  std::size_t measure_ = 0;              // of this run
};

}  // namespace pliant::audit
