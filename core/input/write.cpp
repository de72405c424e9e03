// SPDX-License-Identifier: Apache-2.0
#include "core/input/write.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "core/input/load.h"
#include "core/input/source_text.h"

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

std::vector<std::string> loop_items(const Layer& layer, const std::vector<SpatialLoop>& loops, Side side) {
  std::vector<std::string> items;
  for (const SpatialLoop& loop : loops) {
    if (loop.side == side)
      items.push_back(
          fmt::format("{{{}: {}}}", yaml_text(layer.dims[static_cast<std::size_t>(loop.dim)].name), loop.bound));
  }
  return items;
}

}  // namespace

std::string yaml_text(std::string_view text) {
  // Words that a YAML reader takes for something else; Pliant's own does not, but editors and other tools do.
  constexpr std::array<std::string_view, 10> kNotWords{"true", "false", "null", "yes", "no",
                                                       "on",   "off",   "y",    "n",   "~"};
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool plain = !text.empty() &&
                     (std::isalpha(static_cast<unsigned char>(text.front())) != 0 || text.front() == '_') &&
                     text.back() != ' ' && std::ranges::find(kNotWords, std::string_view(lower)) == kNotWords.end() &&
                     std::ranges::all_of(text, [](char c) {
                       return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                              std::string_view("_-+*./() ").find(c) != std::string_view::npos;
                     });
  if (plain) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': quoted += "\\\""; break;
      case '\\': quoted += "\\\\"; break;
      case '\n': quoted += "\\n"; break;
      case '\r': quoted += "\\r"; break;
      case '\t': quoted += "\\t"; break;
      default: quoted += c;
    }
  }
  return quoted + "\"";
}

std::string yaml_number(double value) { return fmt::format("{}", value); }

std::string yaml_list(const std::vector<std::string>& items) { return fmt::format("[{}]", join(items)); }

std::string yaml_map(const std::vector<std::string>& items) { return fmt::format("{{{}}}", join(items)); }

std::string write_layer(const Layer& layer) {
  return fmt::format("pliant: layer\nlayer: {}\n{}", yaml_text(layer.name), operation_lines(layer, ""));
}

std::string write_workload(const Workload& workload) {
  std::string text = fmt::format("pliant: workload\nname: {}\n", yaml_text(workload.name));
  if (!workload.description.empty()) text += fmt::format("description: {}\n", yaml_text(workload.description));
  text += "layers:\n";
  for (const auto& [layer, count] : workload.layers) {
    text += fmt::format("  - layer: {}\n", yaml_text(layer.name));
    if (count != 1) text += fmt::format("    count: {}\n", count);
    text += "    " + operation_lines(layer, "    ");
  }
  return text;
}

std::string write_mapping(const Layer& layer, const Accelerator& accelerator, const Mapping& mapping,
                          Factorization factorization) {
  std::string text = fmt::format("pliant: mapping\naccelerator: {}\nlayer: {}\nfactorization: {}\nlevels:\n",
                                 yaml_text(accelerator.name), yaml_text(layer.name), to_string(factorization));
  for (std::size_t k = 0; k < mapping.levels.size(); ++k) {
    const Level& level = accelerator.levels[k];
    const LevelMapping& own = mapping.levels[k];
    if (level.is_compute()) continue;
    text += fmt::format("  - level: {}\n", yaml_text(level.name));
    if (level.is_fanout()) {
      const auto rows = loop_items(layer, own.spatial, Side::kRows), cols = loop_items(layer, own.spatial, Side::kCols);
      if (!rows.empty()) text += fmt::format("    rows: {}\n", yaml_list(rows));
      if (!cols.empty()) text += fmt::format("    cols: {}\n", yaml_list(cols));
      continue;
    }
    std::vector<std::string> loops, keeps;
    for (const Loop& loop : own.temporal) {
      loops.push_back(
          fmt::format("{{{}: {}}}", yaml_text(layer.dims[static_cast<std::size_t>(loop.dim)].name), loop.bound));
    }
    for (std::size_t x = 0; x < layer.tensors.size(); ++x) {
      if ((own.keeps >> x & 1U) != 0) keeps.push_back(yaml_text(layer.tensors[x].name));
    }
    text += fmt::format("    temporal: {}\n    keeps: {}\n", yaml_list(loops), yaml_list(keeps));
  }
  if (!mapping.padded.empty()) {
    std::vector<std::string> sizes;
    for (std::size_t d = 0; d < layer.dims.size(); ++d) {
      sizes.push_back(fmt::format("{}: {}", yaml_text(layer.dims[d].name), mapping.padded[d]));
    }
    text += fmt::format("padded: {}\n", yaml_map(sizes));
  }
  return text;
}

}  // namespace pliant
