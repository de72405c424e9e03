// SPDX-License-Identifier: Apache-2.0
#include "dse/design/task_pool.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "core/input/write_mapping.h"
#include "dse/results/content_hash.h"
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

/// Who knows the best mapping needs no bound. Otherwise the answer depends on where the search begins and ends.
TaskKey TaskPool::key_of(const Question& question) {
  if (question.network != nullptr) return namer_.key(*question.design, *question.network);
  const TaskKey best = namer_.key(*question.design, *question.layer);
  if (!question.bound || known_.contains(best)) return best;
  std::string text = fmt::format("{}\nwithin {}\n", best.text(), question.bound->gap);
  if (question.bound->start)
    text += write_mapping(*question.layer, *question.design->accelerator, question.bound->start->mapping,
                          question.design->factorization);
  return *TaskKey::parse(sha256(text));
}

std::vector<Answer> TaskPool::answer(const std::vector<Question>& questions) {
  std::vector<Answer> answers;
  struct Open {
    Question question;
    TaskKey key;
    std::shared_ptr<const TaskResult> result;
  };
  std::vector<Open> open;
  for (const Question& question : questions) {
    const TaskKey key = key_of(question);
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
      TaskResult result = asked.network != nullptr ? solve_network(*mapper_, sweep_, *asked.design, *asked.network,
                                                                   kThreadsOfCaller, mappers)
                                                   : solve_task(BoundMapper(*mapper_, asked.bound), sweep_,
                                                                *asked.design, *asked.layer, kThreadsOfCaller, mappers);
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
