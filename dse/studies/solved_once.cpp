// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/solved_once.h"

#include "dse/sweep/sweep_task.h"

namespace pliant {

SearchResult SolvedOnce::solve(const StudyContext& context, const Accelerator& accelerator, const StudyTask& task) {
  Sweep as_sweeps_do;
  as_sweeps_do.mapper = task.mapper;
  const Task question{task.layer,         accelerator,    accelerator.flexibility_of(task.layer),
                      task.factorization, task.objective, task.most_cycles};
  const TaskKey key = TaskNamer(as_sweeps_do).key(question, 0);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
  }
  SearchResult found = pliant::solve(context, accelerator, task);
  const std::lock_guard lock(mutex_);
  return known_.try_emplace(key, std::move(found)).first->second;
}

}  // namespace pliant
