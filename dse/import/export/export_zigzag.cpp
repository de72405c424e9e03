// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "core/input/diagnostics.h"
#include "core/input/yaml_text.h"
#include "dse/import/export/export.h"

namespace pliant {
namespace {

/// ZigZag's names of a convolution's loops; other layers keep their own.
std::string zigzag_dim(const Layer& layer, int dim) {
  static const std::map<std::string, std::string> conv{{"M", "K"}, {"P", "OY"}, {"Q", "OX"}, {"R", "FY"}, {"S", "FX"}};
  const std::string& name = layer.dims[static_cast<std::size_t>(dim)].name;
  const bool is_conv = layer.operation == Operation::kConv || layer.operation == Operation::kDepthwise;
  const auto found = conv.find(name);
  return is_conv && found != conv.end() ? found->second : name;
}

}  // namespace

std::vector<WrittenFile> export_zigzag(const MappedLayer& mapped) {
  const Layer& layer = mapped.layer;
  std::string text = fmt::format("- name: {}\n  spatial_mapping:\n", yaml_text(layer.name));
  int side = 0;
  // Every side of every array is one dimension of ZigZag's operational array.
  for (std::size_t k = 0; k < mapped.accelerator.levels.size(); ++k) {
    const Level& level = mapped.accelerator.levels[k];
    if (!level.is_fanout()) continue;
    for (const auto& [which, units] :
         {std::pair{Side::kRows, level.fanout().rows}, std::pair{Side::kCols, level.fanout().cols}}) {
      if (units == 1) continue;
      text += fmt::format("    D{}: # {} of {}\n", ++side, which == Side::kRows ? "rows" : "columns", level.name);
      for (const SpatialLoop& loop : mapped.mapping.levels[k].spatial) {
        if (loop.side == which) text += fmt::format("      - {}, {}\n", zigzag_dim(layer, loop.dim), loop.bound);
      }
    }
  }
  text += "  temporal_ordering: # innermost first\n";
  for (std::size_t k = mapped.mapping.levels.size(); k-- > 0;) {
    const auto& temporal = mapped.mapping.levels[k].temporal;
    for (auto loop = temporal.rbegin(); loop != temporal.rend(); ++loop) {
      text += fmt::format("    - [{}, {}] # {}\n", zigzag_dim(layer, loop->dim), loop->bound,
                          mapped.accelerator.levels[k].name);
    }
  }
  text += "  memory_operand_links:\n    O: O\n    W: I2\n    I: I1\n";
  return {{"mapping.yaml", text}};
}

}  // namespace pliant
