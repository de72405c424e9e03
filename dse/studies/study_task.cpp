// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/study_task.h"

#include <fmt/format.h>

#include <stdexcept>

namespace pliant {

SearchResult solve(const StudyContext& context, const Accelerator& accelerator, const StudyTask& task) {
  if (context.stop.stop_requested()) throw StudyInterrupted();
  const Task question{task.layer,         accelerator,    accelerator.flexibility_of(task.layer),
                      task.factorization, task.objective, task.most_cycles};
  SearchOptions options;
  options.seed = task.seed;
  options.threads = context.threads > 0 ? context.threads : 2;
  options.stop = context.stop;
  options.budget.evaluations = task.evaluations;
  options.budget.seconds = task.seconds;
  options.extra = task.options;
  SearchResult found = run_mapper(*make_mapper(task.mapper), question, options);
  if (context.stop.stop_requested()) throw StudyInterrupted();
  if (!found.mapping)
    throw StudyError(fmt::format("{} found no mapping of {} on {}", task.mapper, task.layer.name, accelerator.name));
  return found;
}

}  // namespace pliant
