// SPDX-License-Identifier: Apache-2.0
// What layers read from each other: a `graph:` block, or `from:` beside each layer.
#pragma once

#include <optional>
#include <vector>

#include "core/input/cursor.h"
#include "core/layer.h"

namespace pliant {

/// Layers, operators and repeated blocks; checks names, shapes, and that it has every row as often as the row counts.
std::optional<WorkloadGraph> read_graph(const Cursor& block, const Workload& workload);

/// A graph whose nodes are the rows: `from[i]` is what row i says it reads, or nothing.
std::optional<WorkloadGraph> read_graph_of_rows(const std::vector<std::optional<Cursor>>& from,
                                                const Workload& workload);

}  // namespace pliant
