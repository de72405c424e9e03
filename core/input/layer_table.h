// SPDX-License-Identifier: Apache-2.0
// A workload as a CSV table, one layer a row.
#pragma once

#include <string_view>
#include <vector>

#include "core/input/yaml_node.h"
#include "core/layer.h"

namespace pliant {

/// True when the first line that is no comment is a header of fields rather than YAML.
bool looks_like_csv(std::string_view text);

struct LayerTable {
  std::vector<Workload::Entry> layers;
  std::vector<Position> positions;  ///< of each layer's name
  /// What the column `from` says of each layer, as a list or a map of names; null where it says nothing. Empty without
  /// the column.
  std::vector<YamlNode> from;
};
LayerTable read_layer_table(std::string_view text, std::string_view file, Diagnostics& problems);

}  // namespace pliant
