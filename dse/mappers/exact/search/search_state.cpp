// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/search/search_state.h"

#include <algorithm>
#include <utility>

#include "dse/mappers/exact/bounds/choice_bounds.h"

namespace pliant::exact {

double floor_of_all(const Task& task, const Problem& problem, double steps) {
  const ResolvedTask resolved(task, problem);
  return ChoiceBounds(resolved).floor(std::max(steps, problem.busy_cycles));
}

SearchResult result_of(SearchState state, SearchLimits& limits) {
  SearchResult result;
  const bool decided = state.undecided == kInfinity || state.close(state.undecided);
  const bool optimal = decided && no_better(state.closed, state.incumbent.value);
  result.evaluations = limits.priced;
  result.seconds = limits.seconds();
  result.certified = optimal && state.incumbent.mapping;
  result.infeasible = decided && !state.incumbent.mapping;
  result.value = state.incumbent.value;
  result.lower_bound = result.certified ? result.value
                       : decided        ? std::max(state.closed, limits.enough(result.value))
                                        : std::min({state.undecided, state.closed, result.value});
  result.totals = state.incumbent.totals;
  result.mapping = std::move(state.incumbent.mapping);
  result.ended_by = optimal               ? EndedBy::kProof
                    : decided             ? EndedBy::kProofWithinGap
                    : limits.stopped()    ? EndedBy::kStopped
                    : limits.expired()    ? EndedBy::kBudget
                    : state.out_of_effort ? EndedBy::kEffort
                                          : EndedBy::kMemory;
  return result;
}

}  // namespace pliant::exact
