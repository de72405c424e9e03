// SPDX-License-Identifier: Apache-2.0
// What an operator without MACs costs: it reads its operands where they live and writes its result where that will
// live, while a vector unit works on it. docs/networks.md says what is left out.
#pragma once

#include <map>
#include <vector>

#include "dse/mappers/network.h"
#include "dse/mappers/residency/live_tensors.h"

namespace pliant::residency {

struct OperatorCost {
  double energy_pj = 0, cycles = 0;
};

/// Words that pass a memory's ports.
struct MovedWords {
  double read = 0, written = 0;
};
using WordsByLevel = std::map<int, MovedWords>;

/// The outermost memory that keeps the role.
int outside_level(const Accelerator& accelerator, Role role);

/// What an operator moves; `homes` are those of step.reads, in their order. Nothing when it is done where its operand
/// is.
WordsByLevel operator_words(const std::vector<Task>& rows, const Step& step, const LiveTensors& live,
                            const std::vector<Home>& homes, Home made);
/// What brings weights from outside to where they stay.
WordsByLevel loading_words(const std::vector<Task>& rows, const LiveTensors& live, const StandingWeights& weights,
                           Home home);

/// Of all memories and units together.
double leak_pj_per_cycle(const Accelerator& accelerator);

/// What moving words costs: their energy, and the time of the busiest port while nothing else runs.
OperatorCost moving_cost(const Accelerator& accelerator, const WordsByLevel& at, Role read, Role written);

/// What a vector unit adds that works while the words move: its energy, and what it takes longer than they do.
OperatorCost with_vector_work(const Accelerator& accelerator, OperatorCost moving, double ops);

OperatorCost operator_cost(const std::vector<Task>& rows, const Step& step, const LiveTensors& live,
                           const std::vector<Home>& homes, Home made);

/// What it costs to bring weights from outside to where they stay.
OperatorCost loading_cost(const std::vector<Task>& rows, const LiveTensors& live, const StandingWeights& weights,
                          Home home);

/// All operators of the network when every tensor lives outside: what layers that are mapped one by one leave out.
NetworkParts::Part operators_outside(const LiveTensors& live, const std::vector<Task>& rows);

/// Does its result take the place of the operand, element by element?
bool works_in_place(WorkloadGraph::Operator work);

}  // namespace pliant::residency
