// SPDX-License-Identifier: Apache-2.0
#include "core/input/write_mapping.h"

#include <fmt/format.h>

#include "core/input/yaml_text.h"

namespace pliant {
namespace {

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
