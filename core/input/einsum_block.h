// SPDX-License-Identifier: Apache-2.0
// A free einsum as a map of keys.
#pragma once

#include <optional>
#include <string>

#include "core/input/cursor.h"
#include "core/layer.h"

namespace pliant {

/// `dims: {A: 4, ...}` and `tensors: [{name, role, projection}, ...]`.
std::optional<Layer> read_einsum(const Cursor& block, std::string name);

}  // namespace pliant
