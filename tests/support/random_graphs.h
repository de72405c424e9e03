// SPDX-License-Identifier: Apache-2.0
// Small random networks with graphs (chains, skips, branches, operators without MACs) on machines with two on-chip
// memories that are tight, and what enumeration says about them: all choices of where tensors live, each with all
// mappings of all layers. The enumeration shares nothing with dse/mappers/residency but the cost of a mapping.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
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
/// Layers of a run that pass tiles on in a memory, and what is around them.
struct TiledSteps {
  std::vector<int> steps;        ///< of the layers
  std::vector<bool> whole_rows;  ///< by tensor between them: a softmax or a norm needs its rows whole
  int home = 0;
  std::vector<std::array<int, kRoles>> places;     ///< by layer: where its other operands live; -1 = outside
  std::map<int, std::array<Count, kRoles>> taken;  ///< by level: what lives there meanwhile
  auto operator<=>(const TiledSteps&) const = default;
};
/// Of all choices, groups of layers included whose costs somebody else enumerates.
using TilePairs = std::function<Pairs(const TiledSteps&)>;
Pairs every_choice_with_tiles(const RandomGraph& graph, const TilePairs& tiles);
/// Of one of so many inferences, across which weights may stay, too; nothing when there are too many choices to try.
std::optional<Pairs> every_choice_with_weights(const RandomGraph& graph, Count inferences);

}  // namespace pliant::tests
