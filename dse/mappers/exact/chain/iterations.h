// SPDX-License-Identifier: Apache-2.0
// How many different iterations of one dim lie outside a node when only some of its loops are counted: what a transfer
// repeats. With perfect factors a product; with remainders the last round of a loop is short, and how short depends on
// loops that the node does not know. Then the fewest there can be.
#pragma once

#include <cstdint>
#include <vector>

#include "dse/mappers/exact/chain/axis.h"
#include "dse/mappers/exact/task/resolved_task.h"

namespace pliant::exact {

/// By state of memory k, the fewest iterations of the dim's loops that are outside the node or at a fanout counted
/// inside it; `shared_outside` are fanouts outside the node whose units are served as one.
std::vector<double> fewest_iterations(const ResolvedTask& resolved, const Spatial& spatial, const Chain& chain, int d,
                                      int k, std::uint32_t shared_outside, std::uint32_t counted_inside);

}  // namespace pliant::exact
