// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/frontier.h"

#include <algorithm>
#include <utility>

namespace pliant {

namespace {

/// A faster mapping takes at least this share less: cycles are whole numbers far below its inverse.
constexpr double kFaster = 1e-9;

/// The searches of one frontier, with what is left of the budget for each.
class Searches {
 public:
  Searches(const Mapper& mapper, const SearchOptions& options)
      : mapper_(mapper), options_(options), started_(options.clock->wall_seconds()) {}

  SearchResult next(const Task& task) {
    SearchOptions options = options_;
    if (options.budget.seconds > 0)
      options.budget.seconds = std::max(1e-3, options.budget.seconds - (options.clock->wall_seconds() - started_));
    SearchResult result = run_mapper(mapper_, task, options);
    proven_ &= result.certified || result.infeasible;
    return result;
  }
  bool proven() const { return proven_; }

 private:
  const Mapper& mapper_;
  const SearchOptions& options_;
  double started_;
  bool proven_ = true;
};

}  // namespace

Frontier search_frontier(const Mapper& mapper, const Task& task, const SearchOptions& options) {
  Searches searches(mapper, options);
  Task step = task;
  step.objective = Objective::kRuntime;
  const SearchResult fastest = searches.next(step);
  Frontier frontier;
  step.objective = Objective::kEnergy;
  while (fastest.mapping && searches.proven()) {
    SearchResult result = searches.next(step);
    if (!result.mapping) break;
    step.most_cycles = result.totals.cycles * (1 - kFaster);
    // As much energy in less time: the one before was not on the frontier.
    if (!frontier.points.empty() && result.totals.energy_pj <= frontier.points.back().totals.energy_pj)
      frontier.points.pop_back();
    frontier.points.push_back(std::move(result));
    if (step.most_cycles < fastest.totals.cycles) break;
  }
  // Without a proof there is no telling what lies between the ends, but the fastest mapping is one of them. A point is
  // told by its energy, of which that search has proven nothing.
  if (fastest.mapping && (frontier.points.empty() || frontier.points.back().totals.cycles > fastest.totals.cycles)) {
    SearchResult& point = frontier.points.emplace_back(fastest);
    point.value = point.totals.energy_pj;
    point.lower_bound = 0;
    point.certified = false;
  }
  std::reverse(frontier.points.begin(), frontier.points.end());
  frontier.certified = searches.proven() && !frontier.points.empty();
  return frontier;
}

}  // namespace pliant
