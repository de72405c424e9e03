// SPDX-License-Identifier: Apache-2.0
// When a design search asks what serving costs, and for what.
#pragma once

#include <stop_token>

#include "dse/design/search_node.h"
#include "dse/sweep/sweep.h"

namespace pliant {

/// Is what serving costs to be asked next? Of a box whose floors do not close it, once on its ideal design (unless that
/// is its only design); of a single design before its layers, because that may close it. `inner`: designs of a
/// hardware point.
bool asks_serving(const Sweep& sweep, const SearchNode& node, std::int64_t inner);

/// False after a stop. The node's bounds have to be made again.
bool serve_node(const Sweep& sweep, SearchNode& node, const std::stop_token& stop);

}  // namespace pliant
