// SPDX-License-Identifier: Apache-2.0
// Operators without MACs while a graph is collected: several nodes of a file are often one piece of work.
#pragma once

#include <string>
#include <vector>

#include "core/layer.h"

namespace pliant::onnx {

/// What a node of the collected graph is besides what WorkloadGraph says of it.
struct CollectedNode {
  bool is_input = false;   ///< an input of the network, not a node of the workload
  bool is_whole = false;   ///< an operator that is no part of a larger one: Softmax, LayerNormalization, ...
  bool is_output = false;  ///< the network gives it to its user
};

/// Elementary operators that work on one tensor, element by element or with sums over it, are one operator when only
/// its result is read: GELU and normalisation written out, for instance. Every compiler fuses these. Nodes that became
/// part of another one stay in the list; the answer says which.
std::vector<bool> merge_elementary(WorkloadGraph& graph, const std::vector<CollectedNode>& collected);

/// Without the network's inputs, which become operands from outside, and without operators that lead neither to a layer
/// nor to an output of the network: those are described in `unread`.
struct KeptNodes {
  WorkloadGraph graph;
  std::vector<WorkloadGraph::Node> unread;
  /// Operators that read an input of the network of another size than they make: it counts as what they make.
  struct OtherSize {
    std::string name;
    Count made = 0, read = 0;
  };
  std::vector<OtherSize> other_sizes;
};
KeptNodes keep_read_nodes(WorkloadGraph graph, const std::vector<CollectedNode>& collected,
                          const std::vector<bool>& merged);

}  // namespace pliant::onnx
