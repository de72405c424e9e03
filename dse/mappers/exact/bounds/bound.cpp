// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/bounds/bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant::exact {

double objective_bound(const Problem& problem, const Task& task, double dynamic_energy, double cycles, double steps) {
  Totals totals;
  totals.cycles = std::ceil(cycles * (1 - 1e-12));
  totals.steps = steps;
  totals.energy_pj = dynamic_energy + problem.leak_pj_per_cycle_total * totals.cycles;
  totals.utilization = problem.macs * problem.cycles_per_mac / (problem.built[problem.levels] * totals.cycles);
  return task_value(task, totals);
}

void Region::cut(double slope, double sum) {
  // Rounding must not cut off the true point.
  if (count_ < static_cast<int>(cuts_.size())) cuts_[static_cast<std::size_t>(count_++)] = {slope, sum * (1 - 1e-12)};
}

double Region::least(const Problem& problem, const Task& task, double steps) const {
  const auto energy_at = [&](double cycles) {
    double energy = energy_;
    for (int i = 0; i < count_; ++i) {
      const Cut& c = cuts_[static_cast<std::size_t>(i)];
      energy = std::max(energy, c.sum - c.slope * cycles);
    }
    return energy;
  };
  const auto value_at = [&](double cycles) { return objective_bound(problem, task, energy_at(cycles), cycles, steps); };
  double best = value_at(cycles_);
  const auto corner = [&](double cycles) {
    if (cycles > cycles_) best = std::min(best, value_at(std::min(cycles, task.most_cycles)));
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
