// SPDX-License-Identifier: Apache-2.0
#include "dse/design/task_pool.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "dse/sweep/grace_timer.h"
#include "dse/sweep/network_task.h"

namespace pliant {

TaskPool::TaskPool(const Sweep& sweep, TaskStore* store, int threads, std::stop_token stop)
    : sweep_(sweep),
      store_(store),
      threads_(threads),
      stop_(std::move(stop)),
      namer_(sweep),
      mapper_(make_mapper(sweep.mapper)) {}

std::vector<Answer> TaskPool::answer(const std::vector<Question>& questions) {
  std::vector<Answer> answers;
  struct Open {
    Question question;
    TaskKey key;
    std::shared_ptr<const TaskResult> result;
  };
  std::vector<Open> open;
  for (const Question& question : questions) {
    const TaskKey key = question.network != nullptr ? namer_.key(*question.design, *question.network)
                                                    : namer_.key(*question.design, *question.layer);
    answers.push_back({key, nullptr});
    const auto [known, fresh] = known_.try_emplace(key);
    if (!fresh) {
      ++reused_;
      continue;
    }
    if (store_ != nullptr && store_->contains(key)) {
      if (auto kept = store_->get(key)) {
        known->second = std::make_shared<const TaskResult>(std::move(*kept));
        ++reused_;
        continue;
      }
      store_->forget(key);
    }
    open.push_back({question, key, nullptr});
  }
  const GraceTimer grace(stop_, 1);
  const std::stop_token mappers = grace.mappers();
  tbb::task_arena(threads_).execute([&] {
    tbb::parallel_for(std::size_t{0}, open.size(), [&](std::size_t i) {
      if (stop_.stop_requested()) return;
      Open& one = open[i];
      const Question& asked = one.question;
      TaskResult result =
          asked.network != nullptr
              ? solve_network(*mapper_, sweep_, *asked.design, *asked.network, kThreadsOfCaller, mappers)
              : solve_task(*mapper_, sweep_, *asked.design, *asked.layer, kThreadsOfCaller, mappers);
      // A search that was stopped has only an accident to show, unless it had its proof already.
      if (mappers.stop_requested() && !result.certified && result.status != TaskStatus::kNoLegalMapping) return;
      if (store_ != nullptr && result.status != TaskStatus::kFailed) store_->put(one.key, result);
      one.result = std::make_shared<const TaskResult>(std::move(result));
    });
  });
  for (Open& one : open) {
    if (!one.result) {
      known_.erase(one.key);
      continue;
    }
    ++solved_;
    search_seconds_ += one.result->solve_seconds;
    known_[one.key] = std::move(one.result);
  }
  for (Answer& answer : answers)
    if (const auto known = known_.find(answer.key); known != known_.end()) answer.result = known->second;
  return answers;
}

std::vector<Answer> TaskPool::answer(const DesignPoint& design, const DistinctLayers& layers) {
  if (!design.accelerator) return std::vector<Answer>(layers.layers.size());
  std::vector<Question> questions;
  for (std::size_t i = 0; i < layers.layers.size(); ++i)
    questions.push_back({&design, layers.layers[i].get(), layers.networks[i]});
  return answer(questions);
}

}  // namespace pliant
