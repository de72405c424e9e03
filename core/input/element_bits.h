// SPDX-License-Identifier: Apache-2.0
// The key `bits` of accelerators, memories and layers.
#pragma once

#include <string>

#include "core/input/cursor.h"
#include "core/layer.h"

namespace pliant {

/// One width for everything, or a map of inputs, weights, outputs and partial_sums.
ElementBits read_element_bits(const Cursor& bits);
/// The same of a memory, which may also say that no partial sums come to it.
ElementBits read_memory_bits(const Cursor& bits);

/// As read above; empty where nothing is said.
std::string write_element_bits(const ElementBits& bits);

}  // namespace pliant
