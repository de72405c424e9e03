// SPDX-License-Identifier: Apache-2.0
// What is asked of a whole network, and what its sums are made of. docs/networks.md has the proof.
#pragma once

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

}  // namespace pliant
