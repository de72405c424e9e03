// SPDX-License-Identifier: Apache-2.0
// Files of one layer.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/layer.h"

namespace pliant {

Layer load_layer(const std::filesystem::path& file);
/// From memory: `name` stands for the file in diagnostics.
Layer parse_layer_text(std::string_view text, std::string_view name);

}  // namespace pliant
