// SPDX-License-Identifier: Apache-2.0
// Small random chains of layers, and what enumeration says about them: every tensor between two layers outside, whole
// in a memory, or in tiles under every stack, with all held sets and all mappings of all runs. Tiles are walked
// (fused_walker.h); nothing is shared with dse/mappers/fusion.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/layer.h"
#include "costmodel/task.h"
#include "support/fused_walker.h"
#include "support/random_graphs.h"

namespace pliant::tests {

struct RandomChain {
  Workload workload;
  std::vector<Task> rows;
  reference::WalkedChain walked;
  Count count = 1;  ///< layers of every node
  std::string text;
};
/// Two or three GEMMs, or convolutions with windows, on a small machine. The same for the same seed.
RandomChain random_chain(std::uint64_t seed);

struct EveryFusion {
  Pairs all;    ///< energy and cycles that no other choice beats
  Pairs whole;  ///< of those without tiles
  std::uint64_t plans = 0;
};
EveryFusion every_fusion(const RandomChain& chain);

/// Of those in which all layers pass tiles on in this memory.
Pairs every_group(const RandomChain& chain, int home);

/// Of a network with branches: where its tensors live, and every group of layers that pass tiles on.
Pairs every_choice_of_graph(const RandomGraph& graph);

struct FusionCounts {
  int networks = 0, infeasible = 0, comparisons = 0, better = 0, windows = 0, nested = 0, splits = 0;
  int shared = 0;  ///< held operands that several layers of a node read
  int parts = 0;   ///< plans that cut the rows of a softmax
  std::uint64_t plans = 0;
};
/// Compares the search with the enumeration, and walks the groups that it found. gtest says what differs.
void compare_fusion_with_enumeration(std::uint64_t seed, FusionCounts& counts);
/// The same of two GEMMs with a softmax or a norm between them, which needs whole rows, or an online softmax.
void compare_operators_with_enumeration(std::uint64_t seed, FusionCounts& counts);
/// Groups of GEMMs whose nodes count several layers, some of which read the same weights or inputs, with and without an
/// online softmax between them.
void compare_heads_with_enumeration(std::uint64_t seed, FusionCounts& counts);

/// Networks with branches, skips and operators.
void compare_graphs_with_enumeration(std::uint64_t seed, FusionCounts& counts);

}  // namespace pliant::tests
