// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/bounds/bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/task/tolerances.h"

namespace pliant::exact {

double whole_cycles(const Problem& problem, double cycles) {
  const double step = problem.cycles_per_mac, reached = cycles * (1 - kRoundingOfSums);
  const double whole = std::ceil(reached);
  return at_least<"L8.1">(step == 1 ? whole : std::min(whole, std::ceil(reached / step) * step), cycles);
}

namespace {

double objective_at(const Problem& problem, const Task& task, double dynamic_energy, double cycles, double steps) {
  Totals totals;
  totals.cycles = cycles;
  totals.steps = steps;
  totals.energy_pj = dynamic_energy + problem.leak_pj_per_cycle_total * totals.cycles;
  if (task.objective == Objective::kEdpOverUtilization)  // the only one that asks, and divisions take time here
    totals.utilization = problem.macs * problem.cycles_per_mac / (problem.built[problem.levels] * totals.cycles);
  return task_value(task, totals);
}

}  // namespace

double objective_bound(const Problem& problem, const Task& task, double dynamic_energy, double cycles, double steps) {
  return objective_at(problem, task, dynamic_energy, whole_cycles(problem, cycles), steps);
}

void Region::cut(double slope, double sum) {
  // Rounding must not cut off the true point.
  if (count_ < static_cast<int>(cuts_.size()))
    cuts_[static_cast<std::size_t>(count_++)] = {slope, at_least<"L8.2">(sum * (1 - kRoundingOfSums), 0)};
}

double Region::least(const Problem& problem, const Task& task, double steps) const {
  const double fewest = whole_cycles(problem, cycles_);
  const auto value_at = [&](double cycles) {
    double energy = energy_;
    for (int i = 0; i < count_; ++i) {
      const Cut& c = cuts_[static_cast<std::size_t>(i)];
      energy = std::max(energy, c.sum - c.slope * cycles);
    }
    return objective_at(problem, task, energy, cycles, steps);
  };
  double best = value_at(fewest);
  // Between two corners the value is quasi-concave. Where cycles are whole its least is at the first or the last whole
  // number between them: beside the corners.
  const bool whole = problem.cycles_per_mac == std::floor(problem.cycles_per_mac);
  const auto corner = [&](double cycles) {
    if (!(cycles > fewest)) return;
    cycles = std::min(cycles, task.most_cycles);
    best = std::min(best, value_at(whole ? std::max(fewest, std::floor(cycles)) : cycles));
    if (whole) best = std::min(best, value_at(std::ceil(cycles)));
  };
  for (int i = 0; i < count_; ++i) {
    const Cut& a = cuts_[static_cast<std::size_t>(i)];
    corner((a.sum - energy_) / a.slope);
    for (int j = 0; j < i; ++j) {
      const Cut& b = cuts_[static_cast<std::size_t>(j)];
      if (a.slope != b.slope) corner((a.sum - b.sum) / (a.slope - b.slope));
    }
  }
  return best;
}

}  // namespace pliant::exact
