// SPDX-License-Identifier: Apache-2.0
#include "core/input/load_layer.h"

#include "core/input/cursor.h"
#include "core/input/keys.h"
#include "core/input/layer_block.h"
#include "core/input/source_text.h"

namespace pliant {

Layer load_layer(const std::filesystem::path& file) { return parse_layer_text(read_source(file), file.string()); }

Layer parse_layer_text(std::string_view text, std::string_view name) {
  Diagnostics problems;
  const YamlNode tree = parse_yaml(text, name, problems);
  const Cursor root(tree, "", problems);
  check_kind(root, "layer");
  const auto layer = read_layer(root, keys::kLayer);
  problems.throw_if_any();
  return *layer;
}

}  // namespace pliant
