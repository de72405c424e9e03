// SPDX-License-Identifier: Apache-2.0
// The shape of a layer as a map of keys, wherever it was written: a YAML block, a row of a table, or text in place.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/input/cursor.h"
#include "core/layer.h"

namespace pliant {

/// Reads `conv`, `depthwise`, `gemm` or `einsum` sizes; checks that all products of sizes fit.
std::optional<Layer> read_shape(std::string_view operation, const Cursor& shape, std::string name);

/// A map with `layer: NAME` and one of conv, depthwise, gemm, einsum.
std::optional<Layer> read_layer(const Cursor& block, Keys allowed);

/// A layer's name: printable text on one line.
std::optional<std::string> read_layer_name(const Cursor& name);

}  // namespace pliant
