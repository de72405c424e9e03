// SPDX-License-Identifier: Apache-2.0
// A network's graph: which shapes fit each other, and the run of all its nodes with blocks written out.
#pragma once

#include <string_view>
#include <vector>

#include "core/layer.h"

namespace pliant {

/// More nodes than this in a run are refused when a file is read.
inline constexpr Count kMostGraphNodes = 100'000;

std::string_view to_string(WorkloadGraph::Operator work);

/// The output of one layer, along the ranks of a convolution where it is one.
struct TensorExtents {
  Count words = 0;
  Count channels = 0, height = 0, width = 0;  ///< all 0 where nobody knows them
};
/// Of the output of `count` such layers together.
TensorExtents output_extents(const Layer& layer, Count count);

/// May `count` such layers read the tensor there together? A convolution may see padding around it, of at most one
/// filter less one on each side, and need not touch its last rows. Other layers read all of it together, or each of
/// them all of it; as weights each word may serve several heads.
bool reads_fit(const Layer& reader, Count count, int tensor, const TensorExtents& made);
/// Words that the layers see there, for messages.
Count words_read(const Layer& reader, Count count, int tensor);

/// What a node makes, by what the nodes before it make; an operator's own `words` count where it has any.
TensorExtents extents_made(const Workload& workload, const WorkloadGraph::Node& node,
                           const std::vector<TensorExtents>& before);

/// One run through the network: every round of every block.
struct GraphStep {
  int node = 0;                             ///< of the graph
  std::vector<WorkloadGraph::Edge> from{};  ///< edges name steps of the run instead of nodes
};
std::vector<GraphStep> run_of(const WorkloadGraph& graph);

/// Without operators whose result reaches no layer. The graph has no blocks.
WorkloadGraph without_unread_operators(WorkloadGraph graph);

/// How often the run has a layer of each row of the workload.
std::vector<Count> uses_of_rows(const Workload& workload, const WorkloadGraph& graph);

/// Every row once after the other, as often as it occurs, each reading the one before it where their shapes fit.
WorkloadGraph chain_of(const Workload& workload);

/// Every row as often as it occurs, all operands from outside: layers that have nothing to do with one another.
WorkloadGraph unrelated_layers(const Workload& workload);

/// Does some node read what another makes?
bool has_edges(const WorkloadGraph& graph);

}  // namespace pliant
