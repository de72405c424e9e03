// SPDX-License-Identifier: Apache-2.0
// Searches of a study whose questions come up again: equal ones are searched once.
#pragma once

#include <mutex>
#include <unordered_map>

#include "dse/results/task_store.h"
#include "dse/studies/study_task.h"

namespace pliant {

/// Tasks for `exact` without a limit. Safe to use from several threads; those that ask the same at once both search.
class SolvedOnce {
 public:
  SearchResult solve(const StudyContext& context, const Accelerator& accelerator, const StudyTask& task);

 private:
  std::mutex mutex_;
  std::unordered_map<TaskKey, SearchResult, TaskKeyHash> known_;
};

}  // namespace pliant
