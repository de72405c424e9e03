// SPDX-License-Identifier: Apache-2.0
#include "dse/import/accelforge/edges.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/input/source_text.h"

namespace pliant::accelforge {

int EinsumGraph::source(const Access& access) const {
  const auto known = made_by_.find(access.tensor);
  return known == made_by_.end() ? WorkloadGraph::kNetworkInput : known->second;
}

int EinsumGraph::add_node(const Einsum& einsum, WorkloadGraph::Node node) {
  node.name = names_(import_name(einsum.name, "einsum"));
  if (node.name == "input" || node.name == "previous") node.name = names_(node.name + "_");
  extents_.push_back(extents_made(workload_, node, extents_));
  node.words = extents_.back().words;
  graph_.nodes.push_back(std::move(node));
  const int made = static_cast<int>(graph_.nodes.size()) - 1;
  for (const Access& access : einsum.accesses)
    if (access.output) made_by_[access.tensor] = made;
  return made;
}

void EinsumGraph::add_layer(const Einsum& einsum, const std::vector<Role>& roles, int row) {
  const Layer& layer = workload_.layers[static_cast<std::size_t>(row)].layer;
  WorkloadGraph::Node node;
  node.layer = row;
  for (std::size_t i = 0; i < einsum.accesses.size(); ++i) {
    const int from = source(einsum.accesses[i]);
    if (einsum.accesses[i].output || from < 0) continue;
    const auto tensor = std::ranges::find(layer.tensors, roles[i], &Tensor::role);
    if (tensor == layer.tensors.end()) continue;
    const int index = static_cast<int>(tensor - layer.tensors.begin());
    const TensorExtents& made = extents_[static_cast<std::size_t>(from)];
    if (reads_fit(layer, node.count, index, made)) {
      node.from.push_back({from, index});
    } else {
      log_.choice(
          einsum.at, shorten(einsum.name, 40),
          fmt::format("{} is taken from outside: {} words are read of {}", shorten(einsum.accesses[i].tensor, 40),
                      words_read(layer, node.count, index), made.words));
    }
  }
  add_node(einsum, std::move(node));
}

void EinsumGraph::add_operator(const Einsum& einsum, Count words) {
  WorkloadGraph::Node node;
  node.words = words;
  for (const Access& access : einsum.accesses) {
    if (const int from = source(access); !access.output && from >= 0)
      node.from.push_back({from, static_cast<int>(node.from.size())});
  }
  if (node.from.empty()) return;  // of what comes from outside: its output does so too
  const bool same_size = graph_.nodes[static_cast<std::size_t>(node.from[0].node)].words == words;
  if (!same_size)
    node.work = WorkloadGraph::Operator::kPool;
  else if (node.from.size() == 1)
    node.work = WorkloadGraph::Operator::kActivation;
  add_node(einsum, std::move(node));
}

std::optional<WorkloadGraph> EinsumGraph::take() {
  WorkloadGraph read = without_unread_operators(std::move(graph_));
  const bool related = std::ranges::any_of(read.nodes, [](const WorkloadGraph::Node& node) {
    return std::ranges::any_of(node.from, [](const WorkloadGraph::Edge& edge) { return edge.node >= 0; });
  });
  if (!related || static_cast<Count>(read.nodes.size()) > kMostGraphNodes) return std::nullopt;
  return read;
}

}  // namespace pliant::accelforge
