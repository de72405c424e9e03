// SPDX-License-Identifier: Apache-2.0
// The best mappings of a whole network: each layer gets the mapping that serves the sum. docs/networks.md has the
// proof.
#pragma once

#include <optional>
#include <vector>

#include "core/arithmetic.h"
#include "dse/mappers/mapper.h"

namespace pliant {

struct NetworkLayer {
  Task task;  ///< its objective and most_cycles are ignored
  Count count = 1;
};

/// What is to be least of the network's energy E and runtime T, both summed over all layers as often as they occur.
struct NetworkGoal {
  Objective objective = Objective::kEdp;  ///< runtime, energy, edp, ed2p or perf-per-watt
  double most_cycles = kInfinity;         ///< of the network
};

/// objective_value of sums, which have no utilization.
double network_value(Objective objective, double energy_pj, double cycles);

/// A search whose lower bound is a line's: of least energy with the slope as leakage, or of the fewest cycles where the
/// slope is infinite.
struct LineProof {
  double slope = 0;
  SearchResult result;
};

/// What a network's energy and runtime are the sums of: the same parts wherever a network is told of.
struct NetworkParts {
  struct Part {
    Count count = 0;
    double energy_pj = 0, cycles = 0;
  };
  Part layers;     ///< with MACs, repetitions included
  Part operators;  ///< without MACs: they move their operands. Activations that cost nothing are not counted
  Part loads;      ///< of weights that stay across inferences: the share of one inference
};

/// Some repetitions of a layer with the same mapping.
struct NetworkPart {
  std::size_t layer = 0;
  Count count = 1;
  Mapping mapping;
  Totals totals;  ///< of one repetition
};

struct NetworkOptimum {
  std::vector<NetworkPart> parts;  ///< in the order of the layers; empty when nothing was found
  double energy_pj = 0, cycles = 0;
  double value = 0, lower_bound = 0;
  bool certified = false;                      ///< value and lower bound meet
  bool infeasible = false;                     ///< proven: a layer fits nowhere, or the deadline is too short
  std::optional<std::size_t> without_mapping;  ///< the first layer that has none
  double fastest_cycles = 0;                   ///< proven: no mappings are faster
  std::uint64_t searches = 0;                  ///< of layers
  std::vector<double> slopes;                  ///< of the lines below it
  double line_bound = 0;                       ///< what these lines prove by themselves
  std::vector<std::vector<LineProof>> proofs;  ///< by layer, where parts are recorded
  double gap() const { return certified || value == 0 ? 0 : (value - lower_bound) / value; }
};

NetworkOptimum search_network(const Mapper& mapper, const std::vector<NetworkLayer>& layers, const NetworkGoal& goal,
                              const SearchOptions& options);

}  // namespace pliant
