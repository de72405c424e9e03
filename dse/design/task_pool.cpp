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

namespace {

/// What a bound needs of an answer. There are many of them, and they stay until the end.
std::shared_ptr<const TaskResult> without_details(const TaskResult& result) {
  auto plain = std::make_shared<TaskResult>();
  plain->status = result.status;
  plain->mapping = result.mapping;
  plain->energy_pj = result.energy_pj;
  plain->runtime_cycles = result.runtime_cycles;
  plain->value = result.value;
  plain->lower_bound = result.lower_bound;
  plain->gap = result.gap;
  plain->certified = result.certified;
  plain->ended_by = result.ended_by;
  return plain;
}

}  // namespace

TaskPool::TaskPool(const Sweep& sweep, TaskStore* store, int threads, std::stop_token stop)
    : sweep_(sweep),
      store_(store),
      threads_(threads),
      stop_(std::move(stop)),
      namer_(sweep),
      uses_(sweep),
      mapper_(make_mapper(sweep.mapper)) {}

/// Who knows the best mapping needs no bound. Otherwise the answer depends on where the search begins and ends.
TaskPool::Named TaskPool::name(const PoolQuestion& question) {
  if (question.network != nullptr) {
    Named whole{question, namer_.key(*question.design, *question.network), {}};
    if (!question.bound) return whole;
    whole.key = *TaskKey::parse(
        sha256(fmt::format("{}\nline {} within {}\n", whole.key.text(), question.bound->slope, question.bound->gap)));
    whole.only_bounds = true;
    return whole;
  }
  Named asked{question, namer_.key(*question.design, *question.layer), uses_.key(*question.design, *question.layer)};
  if (!question.bound || known_.contains(asked.key) || (asked.by_use && known_by_use_.contains(*asked.by_use)))
    return asked;
  std::string bound = fmt::format("\nwithin {}\n", question.bound->gap);
  if (question.bound->start)
    bound += write_mapping(*question.layer, *question.design->accelerator, question.bound->start->mapping,
                           question.design->factorization);
  asked.key = *TaskKey::parse(sha256(asked.key.text() + bound));
  if (asked.by_use) asked.by_use = TaskKey::parse(sha256(asked.by_use->text() + bound));
  asked.only_bounds = true;
  return asked;
}

/// From memory, from the store, or from a question with the same mappings; null when a search is needed.
std::shared_ptr<const TaskResult> TaskPool::recall(const Named& asked) {
  if (const auto known = known_.find(asked.key); known != known_.end()) return known->second;
  // A line is put together from searches of layers, and they are what the store has: what they teach others counts.
  if (store_ != nullptr && !asked.is_line() && store_->contains(asked.key)) {
    if (auto kept = store_->get(asked.key)) return std::make_shared<const TaskResult>(std::move(*kept));
    store_->forget(asked.key);
  }
  if (!asked.by_use) return nullptr;
  const auto same = known_by_use_.find(*asked.by_use);
  if (same == known_by_use_.end()) return nullptr;
  const auto result = std::make_shared<const TaskResult>(
      answer_on(*asked.question.design->accelerator, *asked.question.layer, *same->second));
  if (store_ != nullptr) store_->put(asked.key, result);
  return result;
}

TaskResult TaskPool::solve(const PoolQuestion& asked, const std::stop_token& stop, ProvenElsewhere& learnt) const {
  if (asked.network == nullptr)
    return solve_task(BoundMapper(*mapper_, asked.bound), sweep_, *asked.design, *asked.layer, kThreadsOfCaller, stop);
  if (!asked.bound) return solve_network(*mapper_, sweep_, *asked.design, *asked.network, kThreadsOfCaller, stop);
  const RecallingMapper recalling(*mapper_, proven_, learnt, namer_, store_);
  TaskResult line = solve_line(recalling, sweep_, *asked.design, *asked.network, asked.bound->slope, asked.bound->gap,
                               kThreadsOfCaller, stop);
  line.evaluations = static_cast<std::uint64_t>(recalling.searches());
  return line;
}

void TaskPool::search(std::vector<Named>& open) {
  const GraceTimer grace(stop_, 1);
  const std::stop_token mappers = grace.mappers();
  // Searches that run side by side do not see what the others learn: it would depend on which is faster.
  std::vector<ProvenElsewhere> learnt(open.size());
  tbb::task_arena(threads_).execute([&] {
    tbb::parallel_for(std::size_t{0}, open.size(), [&](std::size_t i) {
      if (stop_.stop_requested()) return;
      Named& one = open[i];
      const PoolQuestion& asked = one.question;
      TaskResult result = solve(asked, mappers, learnt[i]);
      // A search that was stopped has only an accident to show, unless it had its proof already.
      if (mappers.stop_requested() && !result.certified && result.status != TaskStatus::kNoLegalMapping) return;
      one.result = std::make_shared<const TaskResult>(std::move(result));
      if (store_ != nullptr && one.result->status != TaskStatus::kFailed && !one.is_line())
        store_->put(one.key, one.result);
    });
  });
  for (std::size_t i = 0; i < open.size(); ++i) {
    const Named& one = open[i];
    if (!one.result) continue;
    ++(one.is_line() && one.result->evaluations == 0 ? reused_ : solved_);
    search_seconds_ += one.result->solve_seconds;
    proven_.add(learnt[i]);
  }
}

std::vector<PoolAnswer> TaskPool::answer(const std::vector<PoolQuestion>& questions) {
  std::vector<PoolAnswer> answers;
  std::vector<Named> named;
  for (const PoolQuestion& question : questions) {
    named.push_back(name(question));
    answers.push_back({named.back().key, nullptr});
  }
  // Of questions that may have one answer the first is searched, and the others wait for it.
  std::vector<Named> left = named;
  while (!left.empty() && !stop_.stop_requested()) {
    std::vector<Named> open, waiting;
    std::unordered_set<TaskKey, TaskKeyHash> searched;
    for (Named& asked : left) {
      if ((asked.result = recall(asked)) != nullptr) {
        ++reused_;
        keep(asked);
      } else if (searched.contains(asked.key) || (asked.by_use && searched.contains(*asked.by_use))) {
        waiting.push_back(std::move(asked));
      } else {
        searched.insert(asked.key);
        if (asked.by_use) searched.insert(*asked.by_use);
        open.push_back(std::move(asked));
      }
    }
    search(open);
    for (const Named& one : open)
      if (one.result) keep(one);
    left = std::move(waiting);
  }
  for (PoolAnswer& answer : answers)
    if (const auto known = known_.find(answer.key); known != known_.end()) answer.result = known->second;
  return answers;
}

void TaskPool::keep(const Named& answered) {
  const auto result = answered.only_bounds ? without_details(*answered.result) : answered.result;
  known_.emplace(answered.key, result);
  if (answered.by_use && result->status == TaskStatus::kSolved) known_by_use_.emplace(*answered.by_use, result);
}

std::vector<PoolAnswer> TaskPool::answer(const DesignPoint& design, const DistinctLayers& layers) {
  if (!design.accelerator) return std::vector<PoolAnswer>(layers.layers.size());
  std::vector<PoolQuestion> questions;
  for (std::size_t i = 0; i < layers.layers.size(); ++i)
    questions.push_back({&design, layers.layers[i].get(), layers.networks[i]});
  return answer(questions);
}

}  // namespace pliant
