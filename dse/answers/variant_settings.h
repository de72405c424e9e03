// SPDX-License-Identifier: Apache-2.0
// A layer's accelerator with tensors at home in memories, as `--set` options on the accelerator of the file.
#pragma once

#include <string>
#include <vector>

#include "core/accelerator.h"

namespace pliant {

/// Another memory keeps its operands, some of its room is taken, and what it makes may be as wide as partial sums.
std::vector<std::string> variant_settings(const Accelerator& plain, const Accelerator& variant);

}  // namespace pliant
