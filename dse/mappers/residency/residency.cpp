// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/residency/residency.h"

#include <algorithm>
#include <stdexcept>

#include "dse/mappers/network_hull.h"
#include "dse/mappers/residency/residency_deadline.h"

namespace pliant::residency {

Search::Search(const Mapper& mapper, const Workload& workload, const std::vector<Task>& rows,
               const SearchOptions& options)
    : mapper_(mapper),
      options_(options),
      variants_(mapper, rows, options),
      staying_(workload, rows, true, variants_),
      outside_(workload, rows, false, variants_) {}

Optimum Search::taken(const ResidencyLines& lines, const Path& path) const {
  Optimum best;
  best.energy_pj = path.energy_pj;
  best.cycles = path.cycles;
  best.homes.assign(lines.live().tensors.size(), kOutside);
  for (std::size_t s = 0; s < path.steps.size(); ++s) {
    const PathStep& step = path.steps[s];
    const Step& of = lines.live().steps[s];
    if (of.makes >= 0) best.homes[static_cast<std::size_t>(of.makes)] = step.made;
    StepChoice& choice = best.steps.emplace_back();
    choice.variant = step.variant;
    choice.energy_pj = step.energy_pj;
    choice.cycles = step.cycles;
    if (step.line != nullptr) choice.parts.push_back({of.count, step.line->point.mapping, step.line->point.totals});
  }
  return best;
}

Optimum Search::run(const NetworkGoal& asked, bool stay) {
  if (asked.objective == Objective::kEdpOverUtilization)
    throw std::invalid_argument("a network has no utilization of its own");
  // Cycles of operators are fractions: sums in another order must not miss a deadline by rounding.
  NetworkGoal goal = asked;
  goal.most_cycles *= 1 + kNetworkRounding;
  ResidencyLines& lines = stay ? staying_ : outside_;
  NetworkHull hull(goal, options_.stop, [&](double slope) -> std::optional<NetworkLine> {
    const Path* path = lines.at(slope);
    if (path == nullptr) return std::nullopt;
    NetworkLine line;
    line.slope = slope;
    line.least = path->least;
    line.energy_pj = path->energy_pj;
    line.cycles = path->cycles;
    return line;
  });
  Optimum best;
  if (!hull.close()) {
    best.without_mapping = lines.stuck_row();
    best.infeasible = variants_.complete();
    return best;
  }
  if (hull.too_slow()) {
    best.infeasible = variants_.complete();
    best.fastest_cycles = hull.fastest_cycles();
    return best;
  }
  bool proven = hull.proven();
  if (hull.best() != nullptr) best = taken(lines, *lines.at(hull.best()->slope));
  best.value = hull.value();
  if (hull.has_deadline() && !proven) {
    DeadlineCombination combination(mapper_, lines, variants_, options_, goal.most_cycles,
                                    hull.highest_at_deadline().slope);
    proven = combination.improve(best);
    more_searches_ += combination.searches();
  }
  const bool complete = variants_.complete() && !(stay && lines.live().limited);
  best.certified = proven && complete;
  best.lower_bound = best.certified ? best.value : (complete ? hull.lower_bound() : 0);
  best.fastest_cycles = hull.fastest_cycles();
  return best;
}

}  // namespace pliant::residency
