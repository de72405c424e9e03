// SPDX-License-Identifier: Apache-2.0
// Small random networks with graphs (chains, skips, branches, operators without MACs) on machines with two on-chip
// memories that are tight, and what enumeration says about them: all choices of where tensors live, each with all
// mappings of all layers. The enumeration shares nothing with dse/mappers/residency but the cost of a mapping.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/layer.h"
#include "costmodel/task.h"

namespace pliant::tests {

struct RandomGraph {
  Workload workload;
  std::vector<Task> rows;
  std::string text;
};
/// The same network for the same seed. `partition`: some machines divide a memory among the roles.
RandomGraph random_graph(std::uint64_t seed);

/// Energy and cycles, those that no other beats, least energy first.
using Pairs = std::vector<std::pair<double, double>>;
Pairs without_beaten(Pairs all);
/// Of all choices; of those in which every tensor lives outside when `stay` is false.
Pairs every_choice(const RandomGraph& graph, bool stay);
/// Of one of so many inferences, across which weights may stay, too; nothing when there are too many choices to try.
std::optional<Pairs> every_choice_with_weights(const RandomGraph& graph, Count inferences);

}  // namespace pliant::tests
