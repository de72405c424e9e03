// SPDX-License-Identifier: Apache-2.0
// The loops of a group in words.
#pragma once

#include <string>
#include <vector>

#include "dse/mappers/fusion/chain.h"

namespace pliant::fusion {

/// An axis by a layer that has it tile by tile, and its dim there; `layers` are the names of the chain's layers. Of
/// layers that a node counts "layers", where some share operands "groups" and "layers" of a group.
std::string axis_name(const Chain& chain, int axis, const std::vector<std::string>& layers);

/// Outermost first, each with its rounds and its tile; "-" where there are none.
std::string loops_text(const Chain& chain, const Stack& loops, const std::vector<std::string>& layers);

}  // namespace pliant::fusion
