// SPDX-License-Identifier: Apache-2.0
#include "dse/import/onnx/operators.h"

#include <algorithm>
#include <optional>
#include <set>

namespace pliant::onnx {
namespace {

using GraphNode = WorkloadGraph::Node;
using Edge = WorkloadGraph::Edge;
using Operator = WorkloadGraph::Operator;

class Merging {
 public:
  Merging(WorkloadGraph& graph, const std::vector<CollectedNode>& collected)
      : nodes_(graph.nodes), collected_(collected), readers_(nodes_.size()), merged_(nodes_.size(), false) {
    for (int n = 0; n < static_cast<int>(nodes_.size()); ++n)
      for (const Edge& edge : node(n).from) readers_[static_cast<std::size_t>(edge.node)].insert(n);
  }

  std::vector<bool> run() {
    for (int n = 0; n < static_cast<int>(nodes_.size()); ++n) {
      if (!is_elementary(n)) continue;
      if (const auto group = from_one_tensor(n)) collapse(n, *group);
      join_chain(n);
    }
    return merged_;
  }

 private:
  /// Operators of a group, and the one tensor that they read of the others.
  struct Group {
    std::set<int> nodes;
    int root = 0;
  };

  GraphNode& node(int n) { return nodes_[static_cast<std::size_t>(n)]; }
  const CollectedNode& collected(int n) const { return collected_[static_cast<std::size_t>(n)]; }
  bool is_elementary(int n) {
    return !node(n).is_layer() && !collected(n).is_input && !collected(n).is_whole && !node(n).from.empty() &&
           node(n).work != Operator::kConcat;
  }

  /// Takes the latest operand into the group until one tensor is left; none when a tensor on the way is needed
  /// elsewhere.
  std::optional<Group> from_one_tensor(int last) {
    Group group{{last}, 0};
    std::set<int> operands;
    const auto add = [&](int n) {
      for (const Edge& edge : node(n).from) operands.insert(edge.node);
    };
    add(last);
    while (operands.size() > 1) {
      const int latest = *operands.rbegin();
      const auto& readers = readers_[static_cast<std::size_t>(latest)];
      if (!is_elementary(latest) || collected(latest).is_output ||
          !std::ranges::all_of(readers, [&](int reader) { return group.nodes.contains(reader); }))
        return std::nullopt;
      operands.erase(latest);
      group.nodes.insert(latest);
      add(latest);
    }
    group.root = *operands.begin();
    if (group.nodes.size() == 1 || node(last).words != node(group.root).words) return std::nullopt;
    return group;
  }

  void collapse(int last, const Group& group) {
    const Count words = node(last).words;
    const bool sums = std::ranges::any_of(
        group.nodes, [&](int n) { return node(n).words != words || node(n).work == Operator::kNorm; });
    node(last).work = sums ? Operator::kNorm : Operator::kActivation;
    replace(last, group.nodes, {{group.root, 0}});
  }

  /// A normalisation written out is a chain of such groups.
  void join_chain(int last) {
    if (node(last).from.size() != 1) return;
    const int before = node(last).from[0].node;
    const bool one_norm = node(last).work == Operator::kNorm || node(before).work == Operator::kNorm;
    if (!one_norm || !is_elementary(before) || collected(before).is_output || node(before).from.size() != 1 ||
        node(before).words != node(last).words || readers_[static_cast<std::size_t>(before)].size() != 1)
      return;
    node(last).work = Operator::kNorm;
    replace(last, {before, last}, node(before).from);
  }

  void replace(int last, const std::set<int>& group, std::vector<Edge> from) {
    for (const int n : group) {
      for (const Edge& edge : node(n).from) readers_[static_cast<std::size_t>(edge.node)].erase(n);
      if (n == last) continue;
      node(n).from.clear();
      merged_[static_cast<std::size_t>(n)] = true;
    }
    node(last).from = std::move(from);
    for (const Edge& edge : node(last).from) readers_[static_cast<std::size_t>(edge.node)].insert(last);
  }

  std::vector<GraphNode>& nodes_;
  const std::vector<CollectedNode>& collected_;
  std::vector<std::set<int>> readers_;
  std::vector<bool> merged_;
};

}  // namespace

std::vector<bool> merge_elementary(WorkloadGraph& graph, const std::vector<CollectedNode>& collected) {
  return Merging(graph, collected).run();
}

namespace {

/// The last node's tensor goes to the network's user although others read it.
GraphNode given_away(const std::vector<GraphNode>& nodes, std::set<std::string>& names) {
  GraphNode made;
  made.work = Operator::kOutput;
  made.words = nodes.back().words;
  made.from = {{static_cast<int>(nodes.size()) - 1, 0}};
  made.name = nodes.back().name + "_output";
  while (!names.insert(made.name).second) made.name += '_';
  return made;
}

}  // namespace

KeptNodes keep_read_nodes(WorkloadGraph graph, const std::vector<CollectedNode>& collected,
                          const std::vector<bool>& merged) {
  std::vector<GraphNode>& nodes = graph.nodes;
  std::vector<bool> needed(nodes.size(), false);
  for (std::size_t n = nodes.size(); n-- > 0;) {
    if (nodes[n].is_layer() || collected[n].is_output) needed[n] = true;
    if (!needed[n]) continue;
    for (const Edge& edge : nodes[n].from) needed[static_cast<std::size_t>(edge.node)] = true;
  }
  std::vector<bool> is_read(nodes.size(), false);
  std::set<std::string> names;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    names.insert(nodes[n].name);
    for (const Edge& edge : nodes[n].from)
      if (needed[n]) is_read[static_cast<std::size_t>(edge.node)] = true;
  }
  KeptNodes kept;
  std::vector<int> place(nodes.size(), WorkloadGraph::kNetworkInput);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (collected[n].is_input || merged[n]) continue;
    if (!needed[n]) {
      kept.unread.push_back(std::move(nodes[n]));
      continue;
    }
    place[n] = static_cast<int>(kept.graph.nodes.size());
    for (Edge& edge : nodes[n].from) {
      const auto from = static_cast<std::size_t>(edge.node);
      if (collected[from].is_input && !nodes[n].is_layer() && nodes[from].words != nodes[n].words)
        kept.other_sizes.push_back({nodes[n].name, nodes[n].words, nodes[from].words});
      edge.node = place[from];
    }
    if (nodes[n].is_layer()) std::erase_if(nodes[n].from, [](const Edge& edge) { return edge.node < 0; });
    kept.graph.nodes.push_back(std::move(nodes[n]));
    // What nobody reads is made outside anyway.
    if (collected[n].is_output && is_read[n]) kept.graph.nodes.push_back(given_away(kept.graph.nodes, names));
  }
  return kept;
}

}  // namespace pliant::onnx
