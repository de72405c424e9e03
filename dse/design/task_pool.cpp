// SPDX-License-Identifier: Apache-2.0
#include "dse/design/task_pool.h"

#include <fmt/format.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "core/input/write_mapping.h"
#include "dse/results/content_hash.h"
#include "dse/sweep/network_task.h"

namespace pliant {

namespace {

/// After a stop, for searches that are nearly done.
constexpr double kGraceSeconds = 1;

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

struct TaskPool::Threads {
  explicit Threads(int count) : arena(count) {}
  /// Of a caller that gave up there may be searches on their way.
  ~Threads() {
    searches.cancel();
    wait();
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  template <class Search>
  void run(const Search& search) {
    arena.execute([&] { searches.run(search); });
  }
  void wait() {
    arena.execute([&] { searches.wait(); });
  }

  tbb::task_arena arena;
  tbb::task_group searches;
};

TaskPool::TaskPool(const Sweep& sweep, TaskStore* store, int threads, std::stop_token stop)
    : sweep_(sweep),
      store_(store),
      stop_(std::move(stop)),
      grace_(stop_, kGraceSeconds),
      namer_(sweep),
      uses_(sweep),
      mapper_(make_mapper(sweep.mapper)),
      threads_(std::make_unique<Threads>(threads)) {}

TaskPool::~TaskPool() = default;

/// Who knows the best mapping needs no bound. Otherwise the answer depends on where the search begins and ends.
TaskPool::Named TaskPool::name(PoolQuestion question) {
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

void TaskPool::search(Named& asked) {
  if (stop_.stop_requested()) return;
  const std::stop_token mappers = grace_.mappers();
  // Searches that run side by side do not see what the others learn: it would depend on which is faster.
  TaskResult result = solve(asked.question, mappers, asked.learnt);
  // A search that was stopped has only an accident to show, unless it had its proof already.
  if (mappers.stop_requested() && !result.certified && result.status != TaskStatus::kNoLegalMapping) return;
  asked.result = std::make_shared<const TaskResult>(std::move(result));
  if (store_ != nullptr && asked.result->status != TaskStatus::kFailed && !asked.is_line())
    store_->put(asked.key, asked.result);
}

/// Of questions that may have one answer the first is looked into, and the others wait for it.
void TaskPool::take(Named& asked) {
  if (stop_.stop_requested()) return;
  if (at_work_.contains(asked.key) || (asked.by_use && at_work_.contains(*asked.by_use))) {
    waiting_.push_back(&asked);
    return;
  }
  at_work_.insert(asked.key);
  if (asked.by_use) at_work_.insert(*asked.by_use);
  taken_.push_back(&asked);
  asked.result = recall(asked);
  if (asked.result) return;
  asked.searched = true;
  threads_->run([this, &asked] { search(asked); });
}

void TaskPool::ask(PoolQuestion question) { take(asked_.emplace_back(name(std::move(question)))); }

std::vector<PoolAnswer> TaskPool::answers() {
  while (!taken_.empty()) {
    threads_->wait();
    for (const Named* one : std::exchange(taken_, {})) {
      if (!one->result) continue;
      ++(!one->searched || (one->is_line() && one->result->evaluations == 0) ? reused_ : solved_);
      if (one->searched) search_seconds_ += one->result->solve_seconds;
      proven_.add(one->learnt);
      keep(*one);
    }
    at_work_.clear();
    for (Named* one : std::exchange(waiting_, {})) take(*one);
  }
  std::vector<PoolAnswer> answers;
  for (const Named& one : asked_) {
    const auto known = known_.find(one.key);
    answers.push_back({one.key, known == known_.end() ? nullptr : known->second});
  }
  asked_.clear();
  return answers;
}

void TaskPool::keep(const Named& answered) {
  const auto result = answered.only_bounds ? without_details(*answered.result) : answered.result;
  known_.emplace(answered.key, result);
  if (answered.by_use && result->status == TaskStatus::kSolved) known_by_use_.emplace(*answered.by_use, result);
}

std::vector<PoolAnswer> TaskPool::answer(const std::shared_ptr<const DesignPoint>& design,
                                         const DistinctLayers& layers) {
  if (!design->accelerator) return std::vector<PoolAnswer>(layers.layers.size());
  for (std::size_t i = 0; i < layers.layers.size(); ++i) ask({design, layers.layers[i].get(), layers.networks[i]});
  return answers();
}

}  // namespace pliant
