// SPDX-License-Identifier: Apache-2.0
// What a workload of a sweep that is a served language model costs to serve on a design: docs/serving.md.
#pragma once

#include <array>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "dse/results/rows.h"
#include "dse/sweep/design_space.h"

namespace pliant {

/// What is asked on a design: its accelerator, rules and objective.
serving::Request served_request(const serving::Request& ask, const DesignPoint& design, const std::stop_token& stop);

/// nullopt when the workload is not served, when the design is invalid, and after a stop.
std::optional<DesignRow::Serving> solve_serving(const Sweep& sweep, const DesignPoint& design, const Workload& workload,
                                                const std::stop_token& stop);

/// By workload.
std::vector<std::optional<DesignRow::Serving>> solve_all_serving(const Sweep& sweep, const DesignPoint& design,
                                                                 const std::stop_token& stop);

/// Puts the figures into the row; one that does not fit into the memory, or has a layer without a mapping, is marked.
void take_serving(const std::optional<DesignRow::Serving>& serving, DesignRow& row);

/// Its columns by name, each empty where the row is.
std::array<std::pair<const char*, std::optional<double>>, 6> serving_values(
    const std::optional<DesignRow::Serving>& serving);

}  // namespace pliant
