// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/study_task.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <mutex>
#include <stdexcept>

namespace pliant {

SearchResult solve(const StudyContext& context, const Accelerator& accelerator, const StudyTask& task) {
  return solve(context, accelerator, task, *make_mapper(task.mapper));
}

SearchResult solve(const StudyContext& context, const Accelerator& accelerator, const StudyTask& task,
                   const Mapper& mapper) {
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
  options.on_progress = task.on_progress;
  SearchResult found = run_mapper(mapper, question, options);
  if (context.stop.stop_requested()) throw StudyInterrupted();
  if (!found.mapping)
    throw StudyError(fmt::format("{} found no mapping of {} on {}", mapper.name(), task.layer.name, accelerator.name));
  return found;
}

void for_each_task(const StudyContext& context, const std::string& what, std::size_t count,
                   const std::function<void(std::size_t, const StudyContext&)>& one) {
  StudyContext alone = context;
  alone.threads = 1;
  std::mutex telling;  // on_progress is for one thread at a time
  std::size_t done = 0;
  tbb::task_arena(context.threads > 0 ? context.threads : tbb::task_arena::automatic).execute([&] {
    tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
      one(i, alone);
      const std::lock_guard lock(telling);
      if (context.on_progress) context.on_progress(fmt::format("{}, {} of {}", what, ++done, count));
    });
  });
}

}  // namespace pliant
