// SPDX-License-Identifier: Apache-2.0
#include "core/input/write_layer.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/input/element_bits.h"
#include "core/input/source_text.h"
#include "core/input/yaml_text.h"

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
  text += "layers:\n";
  for (const auto& [layer, count] : workload.layers) {
    text += fmt::format("  - layer: {}\n", yaml_text(layer.name));
    if (count != 1) text += fmt::format("    count: {}\n", count);
    text += bits_line(layer, "    ") + "    " + operation_lines(layer, "    ");
  }
  return text;
}

}  // namespace pliant
