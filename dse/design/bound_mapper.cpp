// SPDX-License-Identifier: Apache-2.0
#include "dse/design/bound_mapper.h"

#include <algorithm>

#include "core/legality.h"
#include "dse/mappers/exact/search/prove.h"

namespace pliant {

namespace {

/// As much work as the exact mapper gives itself, in units of about a nanosecond.
constexpr std::uint64_t kBoundEffort = 10'000'000'000;

}  // namespace

SearchResult BoundMapper::search(const Task& task, const SearchOptions& options) const {
  if (!bound_) return exact_.search(task, options);
  SearchOptions within = options;
  within.gap = std::max(options.gap, bound_->gap);
  if (!bound_->start || task.factorization != Factorization::kPerfect) return exact_.search(task, within);
  const Mapping& start = bound_->start->mapping;
  if (!check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, start).empty())
    return exact_.search(task, within);
  const Problem problem(task.layer, task.accelerator);
  Nest nest(problem);
  nest.load(flatten(problem, start));
  exact::Incumbent incumbent{start, nest.price(), 0};
  incumbent.value = task_value(task, incumbent.totals);
  return exact::prove(task, problem, within, std::move(incumbent), options.budget.seconds > 0 ? 0 : kBoundEffort);
}

}  // namespace pliant
