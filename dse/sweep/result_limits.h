// SPDX-License-Identifier: Apache-2.0
// Constraints of a sweep that name what only a search can tell: `latency_s <= 0.033`, `power_w <= 2`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dse/results/columns.h"
#include "dse/results/rows.h"
#include "dse/sweep/constraint.h"

namespace pliant {

/// Columns of `designs` that a limit may name.
const std::vector<std::string>& result_names();
/// It has a value only where the accelerator has a clock.
bool needs_clock(std::string_view result_name);
bool needs_serving(std::string_view result_name);  ///< a language model that is served

/// nullopt for other names and for rows without that value.
std::optional<double> result_value(const DesignRow& row, std::string_view name);

/// Marks the row as kOverLimit when a limit does not hold. `lookup` gives everything that is not a result.
void apply_limits(const std::vector<Constraint>& limits, const Constraint::Lookup& lookup, DesignRow& row);

}  // namespace pliant
