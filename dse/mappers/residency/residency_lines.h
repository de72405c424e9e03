// SPDX-License-Identifier: Apache-2.0
// The least energy + slope * cycles of a network over all choices of where its tensors live: a dynamic programme over
// the steps whose state is where the live tensors are. docs/networks.md has the proof.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "dse/mappers/residency/operator_cost.h"
#include "dse/mappers/residency/variants.h"

namespace pliant::residency {

/// From one state to the next by one step.
struct Transition {
  int from = 0, to = 0;  ///< states before and after the step
  Home made = kOutside;  ///< where the step's output goes
  int variant = -1;      ///< of a layer
  OperatorCost cost{};   ///< of an operator
};

/// What one step does on a path: all of it, `count` included.
struct PathStep {
  Home made = kOutside;
  int variant = -1;
  const LayerLines::Line* line = nullptr;  ///< of one layer; nullptr for operators
  double energy_pj = 0, cycles = 0;
};

struct Path {
  double least = 0;  ///< energy + slope * cycles of any choice
  double energy_pj = 0, cycles = 0;
  std::vector<PathStep> steps;
};

class ResidencyLines {
 public:
  /// With `stay` false every tensor lives outside: the same network without residency.
  ResidencyLines(const Workload& workload, const std::vector<Task>& rows, bool stay, VariantLines& variants);

  /// nullptr when some layer fits nowhere.
  const Path* at(double slope);

  const LiveTensors& live() const { return live_; }
  /// By step.
  const std::vector<std::vector<Transition>>& transitions() const { return transitions_; }
  const std::vector<std::size_t>& states() const { return states_; }  ///< how many before each step, and at the end
  std::optional<int> stuck_row() const { return stuck_row_; }         ///< a layer that fits nowhere

 private:
  using State = std::vector<Home>;  ///< of the tensors that are alive, in the order in which they were made

  void build();
  std::optional<Transition> transition(int step, const std::vector<int>& alive, const State& state, Home made);
  std::optional<Path> shortest(double slope);
  double weight(const Transition& transition, int step, double slope, VariantLines::Known& known);

  const Workload& workload_;
  const std::vector<Task>& rows_;
  VariantLines& variants_;
  LiveTensors live_;
  std::vector<std::vector<bool>> divided_;  ///< by row and level: a hard partition rules the memory
  std::vector<std::vector<Transition>> transitions_;
  std::vector<std::size_t> states_;
  std::map<double, std::optional<Path>> known_;
  std::optional<int> stuck_row_;
};

}  // namespace pliant::residency
