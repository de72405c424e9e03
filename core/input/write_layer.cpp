// SPDX-License-Identifier: Apache-2.0
#include "core/input/write_layer.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/input/element_bits.h"
#include "core/input/source_text.h"
#include "core/input/yaml_text.h"
#include "core/workload_graph.h"

namespace pliant {
namespace {

/// "conv:M=64,transposed" -> "conv: {M: 64, transposed: true}".
std::string shape_line(const Layer& layer) {
  const std::string_view written = layer.written_as;
  const std::size_t colon = written.find(':');
  std::vector<std::string> items;
  for (std::size_t start = colon + 1; start <= written.size();) {
    const std::size_t end = std::min(written.find(',', start), written.size());
    const std::string_view item = written.substr(start, end - start);
    const std::size_t equals = item.find('=');
    items.push_back(equals == std::string_view::npos
                        ? fmt::format("{}: true", item)
                        : fmt::format("{}: {}", item.substr(0, equals), item.substr(equals + 1)));
    start = end + 1;
  }
  return fmt::format("{}: {}\n", written.substr(0, colon), yaml_map(items));
}

std::string expression(const Layer& layer, const Rank& rank) {
  std::vector<std::string> terms;
  for (const Term& term : rank.terms) {
    const std::string& name = layer.dims[static_cast<std::size_t>(term.dim)].name;
    terms.push_back(term.coefficient == 1 ? name : fmt::format("{}*{}", term.coefficient, name));
  }
  return yaml_text(join(terms, "+"));
}

/// The operation of a layer; `indent` stands before every line but the first.
std::string operation_lines(const Layer& layer, std::string_view indent) {
  if (!layer.written_as.empty()) return shape_line(layer);
  std::vector<std::string> dims;
  for (const Dim& dim : layer.dims) dims.push_back(fmt::format("{}: {}", yaml_text(dim.name), dim.size));
  std::string text = fmt::format("einsum:\n{0}  dims: {1}\n{0}  tensors:\n", indent, yaml_map(dims));
  for (const Tensor& tensor : layer.tensors) {
    std::vector<std::string> ranks;
    for (const Rank& rank : tensor.ranks) ranks.push_back(expression(layer, rank));
    text += fmt::format("{}    - {{name: {}, role: {}, projection: {}}}\n", indent, yaml_text(tensor.name),
                        to_string(tensor.role), yaml_list(ranks));
  }
  return text;
}

std::string source_name(const WorkloadGraph& graph, int node) {
  if (node == WorkloadGraph::kNetworkInput) return "input";
  if (node == WorkloadGraph::kRoundBefore) return "previous";
  return yaml_text(graph.nodes[static_cast<std::size_t>(node)].name);
}

std::string node_line(const Workload& workload, const WorkloadGraph& graph, const WorkloadGraph::Node& node) {
  std::vector<std::string> from, fields;
  const Layer* layer = node.is_layer() ? &workload.layers[static_cast<std::size_t>(node.layer)].layer : nullptr;
  for (const WorkloadGraph::Edge& edge : node.from) {
    const std::string name = source_name(graph, edge.node);
    from.push_back(
        layer ? fmt::format("{}: {}", yaml_text(layer->tensors[static_cast<std::size_t>(edge.tensor)].name), name)
              : name);
  }
  fields.push_back(layer ? fmt::format("layer: {}", yaml_text(layer->name))
                         : fmt::format("op: {}", to_string(node.work)));
  if (!layer || node.name != layer->name) fields.push_back(fmt::format("name: {}", yaml_text(node.name)));
  if (node.count != 1) fields.push_back(fmt::format("count: {}", node.count));
  if (!layer) fields.push_back(fmt::format("words: {}", node.words));
  if (node.online) fields.emplace_back("online: true");
  if (!from.empty()) fields.push_back(fmt::format("from: {}", layer ? yaml_map(from) : yaml_list(from)));
  return fmt::format("- {}\n", yaml_map(fields));
}

std::string graph_lines(const Workload& workload, const WorkloadGraph& graph) {
  std::string text = "graph:\n";
  auto block = graph.blocks.begin();
  for (int n = 0; n < static_cast<int>(graph.nodes.size());) {
    const bool repeated = block != graph.blocks.end() && block->first == n;
    const int last = n + (repeated ? block->nodes : 1);
    if (repeated)
      text += fmt::format("  - repeat: {}\n    from: {}\n    nodes:\n", block->rounds, source_name(graph, block->from));
    for (; n < last; ++n)
      text += (repeated ? "      " : "  ") + node_line(workload, graph, graph.nodes[static_cast<std::size_t>(n)]);
    if (repeated) ++block;
  }
  return text;
}

std::string bits_line(const Layer& layer, std::string_view indent) {
  const std::string bits = write_element_bits(layer.bits);
  return bits.empty() ? bits : fmt::format("{}bits: {}\n", indent, bits);
}

}  // namespace

std::string write_layer(const Layer& layer) {
  return fmt::format("pliant: layer\nlayer: {}\n{}{}", yaml_text(layer.name), bits_line(layer, ""),
                     operation_lines(layer, ""));
}

std::string write_workload(const Workload& workload) {
  std::string text = fmt::format("pliant: workload\nname: {}\n", yaml_text(workload.name));
  if (!workload.description.empty()) text += fmt::format("description: {}\n", yaml_text(workload.description));
  if (workload.pass.inferences != 1) text += fmt::format("inferences: {}\n", workload.pass.inferences);
  if (workload.pass.tokens) text += fmt::format("tokens: {}\n", *workload.pass.tokens);
  text += "layers:\n";
  for (const auto& [layer, count] : workload.layers) {
    text += fmt::format("  - layer: {}\n", yaml_text(layer.name));
    if (count != 1) text += fmt::format("    count: {}\n", count);
    text += bits_line(layer, "    ") + "    " + operation_lines(layer, "    ");
  }
  if (workload.graph) text += graph_lines(workload, *workload.graph);
  return text;
}

}  // namespace pliant
