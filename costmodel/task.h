// SPDX-License-Identifier: Apache-2.0
// What is asked of a search, and of whoever checks its answer: a layer on an accelerator under rules, and the value
// that is to be least.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/accelerator.h"
#include "core/layer.h"
#include "core/mapping.h"
#include "costmodel/nest.h"

namespace pliant {

/// Smaller is better for all of them: perf-per-watt is reported as energy (MACs per joule falls as energy rises),
/// EDP over utilization is QuickFlow's search objective.
enum class Objective : std::uint8_t { kRuntime, kEnergy, kEdp, kEd2p, kPerfPerWatt, kEdpOverUtilization };
std::string_view to_string(
    Objective objective);  // "runtime", "energy", "edp", "ed2p", "perf-per-watt", "edp-over-utilization"
std::optional<Objective> parse_objective(std::string_view text);
const std::vector<std::string>& objective_names();

/// The value that is minimised. Of equal mappings that a mapper prices it keeps the one with less energy, then fewer
/// cycles, then the first; `exact` does not look for all that are equal.
double objective_value(Objective objective, const Totals& totals);

struct Task {
  Layer layer;
  Accelerator accelerator;
  /// The flexibility in force (Accelerator::flexibility_of(layer), or what --flexibility chose).
  Flexibility flexibility;
  Factorization factorization = Factorization::kPerfect;
  Objective objective = Objective::kEdp;
  /// Mappings that take longer are worth nothing (their value is infinite): the least energy within a deadline, say.
  double most_cycles = std::numeric_limits<double>::infinity();
};

/// objective_value, or infinity beyond the task's most_cycles and where partial sums come to a memory that takes none.
double task_value(const Task& task, const Totals& totals);

}  // namespace pliant
