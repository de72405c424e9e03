// SPDX-License-Identifier: Apache-2.0
#include "core/workload_graph.h"

#include <algorithm>

namespace pliant {
namespace {

using Node = WorkloadGraph::Node;

Count size_of(const Layer& layer, std::string_view dim) {
  const int d = layer.find_dim(dim);
  return d < 0 ? 1 : layer.dims[static_cast<std::size_t>(d)].size;
}

bool is_convolution(const Layer& layer) {
  return layer.operation == Operation::kConv || layer.operation == Operation::kDepthwise;
}

/// A rank of two terms: how far a window of `filter` values moves over the tensor in `steps` steps.
struct Slide {
  Count steps = 1, stride = 1, filter = 1, dilation = 1;
  Count reach() const { return dilation * (filter - 1); }
  Count extent() const { return stride * (steps - 1) + reach() + 1; }
  bool fits(Count made) const { return made >= extent() - 2 * reach() && made <= extent() + stride - 1; }
};

/// The last two ranks of a convolution's inputs, height and width.
Slide slide_of(const Layer& layer, const Rank& rank) {
  const auto size = [&](const Term& term) { return layer.dims[static_cast<std::size_t>(term.dim)].size; };
  Slide slide;
  slide.steps = size(rank.terms[0]);
  slide.stride = rank.terms[0].coefficient;
  if (rank.terms.size() > 1) {
    slide.filter = size(rank.terms[1]);
    slide.dilation = rank.terms[1].coefficient;
  }
  return slide;
}

Count extent_of(const Layer& layer, const Rank& rank) {
  Count extent = 1;
  for (const Term& term : rank.terms)
    extent += term.coefficient * (layer.dims[static_cast<std::size_t>(term.dim)].size - 1);
  return extent;
}

TensorExtents operator_extents(const Node& node, const std::vector<TensorExtents>& made) {
  TensorExtents out;
  for (const WorkloadGraph::Edge& edge : node.from) {
    if (edge.node < 0) continue;
    const TensorExtents& in = made[static_cast<std::size_t>(edge.node)];
    if (node.work == WorkloadGraph::Operator::kConcat) {
      const bool same_plane = out.words == 0 || (in.height == out.height && in.width == out.width);
      out = {out.words + in.words, same_plane ? out.channels + in.channels : 0, same_plane ? in.height : 0,
             same_plane ? in.width : 0};
    } else if (in.words > out.words) {
      out = in;
    }
  }
  if (node.words > 0 && node.words != out.words) out = {node.words, 0, 0, 0};
  return out;
}

}  // namespace

std::string_view to_string(WorkloadGraph::Operator work) { return kOperatorNames[static_cast<std::size_t>(work)]; }

TensorExtents output_extents(const Layer& layer, Count count) {
  const int output = layer.output();
  TensorExtents out;
  out.words = count * layer.tensor_words(output);
  if (!is_convolution(layer)) return out;
  const std::vector<Rank>& ranks = layer.tensors[static_cast<std::size_t>(output)].ranks;
  out.height = extent_of(layer, ranks[ranks.size() - 2]);
  out.width = extent_of(layer, ranks[ranks.size() - 1]);
  out.channels = out.words / (out.height * out.width);
  return out;
}

Count words_read(const Layer& reader, Count count, int tensor) { return count * reader.tensor_words(tensor); }

bool reads_fit(const Layer& reader, Count count, int tensor, const TensorExtents& made) {
  if (made.words == 0) return true;  // nobody knows
  const Count read = words_read(reader, count, tensor);
  const Tensor& operand = reader.tensors[static_cast<std::size_t>(tensor)];
  // Heads that share keys and values read the same words as weights several times.
  if (operand.role != Role::kInput) return read % made.words == 0;
  if (!is_convolution(reader)) return read == made.words || read == count * made.words;
  const std::vector<Rank>& ranks = operand.ranks;
  const Slide rows = slide_of(reader, ranks[ranks.size() - 2]), cols = slide_of(reader, ranks[ranks.size() - 1]);
  const Count channels = size_of(reader, "B") * size_of(reader, "G") * size_of(reader, "C") * count;
  if (made.height > 0 && made.channels == channels && rows.fits(made.height) && cols.fits(made.width)) return true;
  if (made.height > 0 && rows.extent() * cols.extent() > 1 && made.height * made.width > 1) return false;
  // A vector of all words, or a plane that nobody has described.
  const auto plausible = [&](Count words) {
    const Count most = (rows.extent() + rows.stride - 1) * (cols.extent() + cols.stride - 1) * channels;
    const Count least = std::max<Count>(1, rows.extent() - 2 * rows.reach()) *
                        std::max<Count>(1, cols.extent() - 2 * cols.reach()) * channels;
    return words >= least && words <= most && words % channels == 0;
  };
  return plausible(made.words);
}

TensorExtents extents_made(const Workload& workload, const Node& node, const std::vector<TensorExtents>& before) {
  if (!node.is_layer()) return operator_extents(node, before);
  return output_extents(workload.layers[static_cast<std::size_t>(node.layer)].layer, node.count);
}

std::vector<GraphStep> run_of(const WorkloadGraph& graph) {
  std::vector<GraphStep> run;
  std::vector<int> latest(graph.nodes.size(), WorkloadGraph::kNetworkInput);  // by node: its last step so far
  const auto step = [&](int n, int round_before) {
    const Node& node = graph.nodes[static_cast<std::size_t>(n)];
    GraphStep made{n, node.from};
    for (WorkloadGraph::Edge& edge : made.from) {
      if (edge.node == WorkloadGraph::kRoundBefore)
        edge.node = round_before;
      else if (edge.node >= 0)
        edge.node = latest[static_cast<std::size_t>(edge.node)];
    }
    latest[static_cast<std::size_t>(n)] = static_cast<int>(run.size());
    run.push_back(std::move(made));
  };
  auto block = graph.blocks.begin();
  for (int n = 0; n < static_cast<int>(graph.nodes.size());) {
    if (block == graph.blocks.end() || block->first != n) {
      step(n++, WorkloadGraph::kNetworkInput);
      continue;
    }
    int before = block->from < 0 ? WorkloadGraph::kNetworkInput : latest[static_cast<std::size_t>(block->from)];
    for (Count round = 0; round < block->rounds; ++round) {
      for (int k = 0; k < block->nodes; ++k) step(n + k, before);
      before = static_cast<int>(run.size()) - 1;
    }
    n += block->nodes;
    ++block;
  }
  return run;
}

WorkloadGraph without_unread_operators(WorkloadGraph graph) {
  std::vector<WorkloadGraph::Node>& nodes = graph.nodes;
  std::vector<bool> needed(nodes.size(), false);
  for (std::size_t n = nodes.size(); n-- > 0;) {
    if (nodes[n].is_layer()) needed[n] = true;
    if (!needed[n]) continue;
    for (const WorkloadGraph::Edge& edge : nodes[n].from)
      if (edge.node >= 0) needed[static_cast<std::size_t>(edge.node)] = true;
  }
  std::vector<int> renamed(nodes.size(), -1);
  WorkloadGraph kept;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (!needed[n]) continue;
    renamed[n] = static_cast<int>(kept.nodes.size());
    for (WorkloadGraph::Edge& edge : nodes[n].from)
      if (edge.node >= 0) edge.node = renamed[static_cast<std::size_t>(edge.node)];
    kept.nodes.push_back(std::move(nodes[n]));
  }
  return kept;
}

std::vector<Count> uses_of_rows(const Workload& workload, const WorkloadGraph& graph) {
  std::vector<Count> uses(workload.layers.size(), 0);
  for (int n = 0; n < static_cast<int>(graph.nodes.size()); ++n) {
    const Node& node = graph.nodes[static_cast<std::size_t>(n)];
    if (!node.is_layer()) continue;
    Count rounds = 1;
    for (const WorkloadGraph::Block& block : graph.blocks)
      if (n >= block.first && n < block.first + block.nodes) rounds = block.rounds;
    uses[static_cast<std::size_t>(node.layer)] += rounds * node.count;
  }
  return uses;
}

WorkloadGraph chain_of(const Workload& workload) {
  WorkloadGraph graph;
  TensorExtents before;
  for (std::size_t i = 0; i < workload.layers.size(); ++i) {
    const auto& [layer, count] = workload.layers[i];
    const TensorExtents made = output_extents(layer, 1);
    const auto input = std::ranges::find(layer.tensors, Role::kInput, &Tensor::role);
    const int operand = input == layer.tensors.end() ? -1 : static_cast<int>(input - layer.tensors.begin());
    const bool follows = i > 0 && operand >= 0 && reads_fit(layer, 1, operand, before);
    const int n = static_cast<int>(graph.nodes.size());
    Node node;
    node.name = layer.name;
    node.layer = static_cast<int>(i);
    node.words = made.words;
    const int source = follows ? n - 1 : WorkloadGraph::kNetworkInput;
    const bool follows_itself = count > 1 && operand >= 0 && reads_fit(layer, 1, operand, made);
    if (operand >= 0) node.from.push_back({follows_itself ? WorkloadGraph::kRoundBefore : source, operand});
    if (count > 1) graph.blocks.push_back({n, 1, count, source});
    graph.nodes.push_back(std::move(node));
    before = made;
  }
  return graph;
}

WorkloadGraph unrelated_layers(const Workload& workload) {
  WorkloadGraph graph;
  for (std::size_t i = 0; i < workload.layers.size(); ++i) {
    const auto& [layer, count] = workload.layers[i];
    Node& node = graph.nodes.emplace_back();
    node.name = layer.name;
    node.layer = static_cast<int>(i);
    node.count = count;
    node.words = output_extents(layer, count).words;
  }
  return graph;
}

bool has_edges(const WorkloadGraph& graph) {
  return std::ranges::any_of(graph.nodes, [](const Node& node) {
    return std::ranges::any_of(
        node.from, [](const WorkloadGraph::Edge& edge) { return edge.node != WorkloadGraph::kNetworkInput; });
  });
}

}  // namespace pliant
