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
};
LayerTable read_layer_table(std::string_view text, std::string_view file, Diagnostics& problems);

}  // namespace pliant
