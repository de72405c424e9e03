// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "core/layer.h"
#include "dse/import/imported.h"

namespace pliant {

/// The layer, if our own reader would accept it (limits of dims, tensors and products); else its complaints are noted
/// at this place.
std::optional<Layer> checked_layer(const Layer& layer, const Position& at, std::string_view key, ImportLog& log);

/// Product of sizes below 2^62; else nothing, noted.
bool sizes_fit(std::initializer_list<Count> sizes, const Position& at, std::string_view key, ImportLog& log);

}  // namespace pliant
