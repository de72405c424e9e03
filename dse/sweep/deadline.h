// SPDX-License-Identifier: Apache-2.0
// Limits on time as deadlines: a design counts with the best mappings that keep them, not with mappings that were
// chosen without knowing of them.
#pragma once

#include <optional>
#include <vector>

#include "core/layer.h"
#include "dse/sweep/constraint.h"

namespace pliant {

/// It names one result, which is time (latency_s, runtime_cycles) or work per time (inferences_per_s, tokens_per_s,
/// tops), once, and compares it by order.
bool limits_time(const Constraint& limit);

/// The most cycles of the workload that break none of the limits on time for certain, whatever is known of the other
/// names; infinity where nothing limits it from above, 0 when no time keeps them all.
double most_cycles(const std::vector<Constraint>& limits, const Workload& workload, std::optional<double> clock_hz,
                   const Constraint::Ranges& numbers);

}  // namespace pliant
