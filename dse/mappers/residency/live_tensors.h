// SPDX-License-Identifier: Apache-2.0
// A network's run step by step: what each step reads and makes, how long every tensor lives, and where it may live.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/workload_graph.h"
#include "costmodel/task.h"

namespace pliant::residency {

/// Where a tensor lives from its producer to its last reader: a memory's level, or the outermost memory of its role.
using Home = int;
inline constexpr Home kOutside = -1;

struct LiveTensor {
  int node = 0;  ///< of the graph, that makes it
  Count elements = 0;
  int made_by = 0, last_read = 0;     ///< steps; equal when nobody reads it
  std::vector<Home> homes{kOutside};  ///< all it may have, outside first
};

struct Read {
  int tensor = 0;   ///< of LiveTensors
  int operand = 0;  ///< of the layer; of an operator, the position among its operands
};

struct Step {
  int node = 0;
  int row = -1;  ///< of the workload; -1 = an operator
  Count count = 1;
  std::vector<Read> reads;          ///< what the network made; the rest comes from outside
  Count elements_from_outside = 0;  ///< that an operator reads
  double vector_ops = 0;            ///< of an operator, where a vector unit does them
  int makes = -1;                   ///< -1: an activation, done where its operand is
  bool takes_part = false;          ///< of its operand it reads what it makes
  bool gives_away = false;          ///< what it makes is its operand, outside
  /// An activation in place is free where no vector unit is described.
  bool costs() const { return row >= 0 || makes >= 0 || vector_ops > 0; }
  std::vector<int> through;  ///< tensors made before and read later that it does not touch
};

/// What a layer reads as weights from outside, the same in every inference: it may stay from one to the next.
struct StandingWeights {
  int step = 0, operand = 0;
  Count elements = 0;                 ///< of all layers of the step
  std::vector<Home> homes{kOutside};  ///< all they may have, outside first
};

struct LiveTensors {
  std::vector<LiveTensor> tensors;
  std::vector<Step> steps;
  std::vector<StandingWeights> weights;  ///< those that have a choice, by step
  bool limited = false;  ///< too many tensors are alive at once: some had to live outside, so no optimum is proven
};

/// `rows` are the tasks of the workload's rows, all on one accelerator. Without a graph nobody reads what a layer
/// makes.
LiveTensors live_tensors(const Workload& workload, const std::vector<Task>& rows);

/// May the layer have this operand in the memory? Keeps are by role, so it must be the only one of its role there.
bool may_live(const Task& task, int operand, int level);

/// Bits of a tensor's finished elements at a memory, as the layer that makes it says. Operators say nothing.
int finished_bits(const LiveTensors& live, const std::vector<Task>& rows, int tensor, int level);

/// Words of the memory that so many elements take.
Count words_taken(const Accelerator& accelerator, Count elements, int bits, Home home);

/// Words of the memory that weights take.
Count weights_words(const LiveTensors& live, const std::vector<Task>& rows, const StandingWeights& weights, Home home);

/// Words of the memory that a tensor takes while a step runs: partial sums while a layer makes it, finished elements
/// afterwards, or as wide as a layer that reads it takes them to be.
Count words_at(const LiveTensors& live, const std::vector<Task>& rows, int tensor, int step, Home home);

}  // namespace pliant::residency
