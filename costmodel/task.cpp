// SPDX-License-Identifier: Apache-2.0
#include "costmodel/task.h"

#include <array>

#include "core/arithmetic.h"
#include "core/enum_names.h"

namespace pliant {

namespace {

constexpr std::array<std::string_view, 6> kObjectives = {"runtime", "energy",        "edp",
                                                         "ed2p",    "perf-per-watt", "edp-over-utilization"};

}  // namespace

std::string_view to_string(Objective objective) { return kObjectives[static_cast<std::size_t>(objective)]; }

std::optional<Objective> parse_objective(std::string_view text) {
  if (text == "latency") return Objective::kRuntime;  // as the columns of results call it
  return enum_of<Objective>(kObjectives, text);
}

const std::vector<std::string>& objective_names() {
  static const std::vector<std::string> names(kObjectives.begin(), kObjectives.end());
  return names;
}

double objective_value(Objective objective, const Totals& totals) {
  switch (objective) {
    case Objective::kRuntime: return totals.cycles;
    case Objective::kEnergy:
    case Objective::kPerfPerWatt: return totals.energy_pj;
    case Objective::kEdp: return totals.energy_pj * totals.cycles;
    case Objective::kEd2p: return totals.energy_pj * totals.cycles * totals.cycles;
    case Objective::kEdpOverUtilization:
      // QuickFlow's utilization is the share of units at work while none waits for data: useful steps over steps.
      return totals.energy_pj * totals.cycles / (totals.utilization * (totals.cycles / totals.steps));
  }
  return 0;
}

double task_value(const Task& task, const Totals& totals) {
  return totals.unfinished || totals.cycles > task.most_cycles ? kInfinity : objective_value(task.objective, totals);
}

}  // namespace pliant
