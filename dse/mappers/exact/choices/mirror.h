// SPDX-License-Identifier: Apache-2.0
// Dims that can change places: the rows and columns of an image, say, together with those of the kernel. A mapping and
// its mirror image, every loop over a dim taken over the other one, are legal together and cost the same. So of two
// unrollings that mirror each other one is enough.
#pragma once

#include <array>
#include <optional>

#include "costmodel/task.h"
#include "flex/mapspace/rules.h"

namespace pliant::exact {

using Mirror = std::array<int, kMaxDims>;  ///< by dim: the one it changes places with, maybe itself

/// One pair of dims, or two together, whose exchange leaves the layer and all rules as they are; none where there is
/// none but dims of one iteration.
std::optional<Mirror> find_mirror(const Layer& layer, const MapSpaceRules& rules);

}  // namespace pliant::exact
