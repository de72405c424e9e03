// SPDX-License-Identifier: Apache-2.0
// What the layers of an ONNX file read from each other: its edges, with operators without MACs between them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dse/import/onnx/graph.h"

namespace pliant::onnx {

/// A layer that a node of the file became; a node may become several (scores and context of attention), in this order.
struct PlacedLayer {
  std::size_t node = 0;  ///< of Graph::nodes
  int row = 0;           ///< of the workload
};

/// Nothing, with a note, where the file does not say how large a tensor is that some layer reads.
std::optional<WorkloadGraph> collect_edges(const Graph& graph, const std::map<std::string, Value>& values,
                                           const Workload& workload, const std::vector<PlacedLayer>& placed,
                                           const SourceFile& file, ImportLog& log);

}  // namespace pliant::onnx
