// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/solved_once.h"

#include "core/legality.h"
#include "dse/sweep/sweep_task.h"

namespace pliant {
namespace {

/// What differs by rounding alone is as good.
constexpr double kRounding = 1e-12;

/// The task with every tile, order, pair of parallel dims and shape; which dims may loop where is no axis and stays.
Task without_rules(Task task) {
  for (std::size_t l = 0; l < task.flexibility.levels.size(); ++l) {
    LevelFlexibility& rules = task.flexibility.levels[l];
    rules.tile = {};
    rules.order = {};
    rules.parallel.assignments.clear();
    const Level& level = task.accelerator.levels[l];
    rules.shape = {};
    if (level.is_fanout() && level.fanout().units() > 1) rules.shape.kind = ShapeRule::Kind::kFree;
  }
  return task;
}

}  // namespace

std::optional<SearchResult> SolvedOnce::taken_over(const Task& task, const OnChip& chip) const {
  for (const TaskKey& other : chip.asked) {
    const SearchResult& best = known_.at(other);
    if (best.value <= chip.least * (1 + kRounding) &&
        check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, *best.mapping).empty())
      return best;
  }
  return std::nullopt;
}

SearchResult SolvedOnce::search(const Task& task, const SearchOptions& options) const {
  Sweep as_sweeps_do;
  as_sweeps_do.mapper = name();
  const TaskNamer namer(as_sweeps_do);
  const TaskKey key = namer.key(task, options.gap), free = namer.key(without_rules(task), options.gap);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    if (const auto chip = chips_.find(free); chip != chips_.end() && chip->second.least > 0)
      if (auto found = taken_over(task, chip->second)) return known_.try_emplace(key, *std::move(found)).first->second;
  }
  SearchResult found = mapper_->search(task, options);
  const std::lock_guard lock(mutex_);
  ++searches_;
  if (!found.certified && !found.infeasible) return found;
  const auto [kept, is_new] = known_.try_emplace(key, std::move(found));
  if (is_new && kept->second.mapping) {
    OnChip& chip = chips_[free];
    chip.asked.push_back(key);
    if (key == free) chip.least = kept->second.value;
  }
  return kept->second;
}

std::size_t SolvedOnce::searches() const {
  const std::lock_guard lock(mutex_);
  return searches_;
}

}  // namespace pliant
