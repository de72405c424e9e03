// SPDX-License-Identifier: Apache-2.0
#include "dse/design/task_pool.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <utility>

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

struct TaskPool::Arena {
  explicit Arena(int threads) : arena(threads) {}
  tbb::task_arena arena;
};

struct TaskPool::Batch::Threads {
  explicit Threads(Arena& of_pool) : arena(of_pool.arena) {}
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

  tbb::task_arena& arena;
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
      arena_(std::make_unique<Arena>(threads)) {}

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

TaskResult TaskPool::solve(Named& named, const std::stop_token& stop) const {
  const PoolQuestion& asked = named.question;
  if (asked.network == nullptr)
    return solve_task(BoundMapper(*mapper_, asked.bound), sweep_, *asked.design, *asked.layer, kThreadsOfCaller, stop);
  if (!asked.bound) return solve_network(*mapper_, sweep_, *asked.design, *asked.network, kThreadsOfCaller, stop);
  const RecallingMapper recalling(*mapper_, named.proven, named.learnt, namer_, store_);
  TaskResult line = solve_line(recalling, sweep_, *asked.design, *asked.network, asked.bound->slope, asked.bound->gap,
                               kThreadsOfCaller, stop);
  line.evaluations = static_cast<std::uint64_t>(recalling.searches());
  return line;
}

void TaskPool::search(Named& asked) {
  if (stop_.stop_requested()) return;
  const std::stop_token mappers = grace_.mappers();
  // Searches that run side by side do not see what the others learn: it would depend on which is faster.
  TaskResult result = solve(asked, mappers);
  // A search that was stopped has only an accident to show, unless it had its proof already.
  if (mappers.stop_requested() && !result.certified && result.status != TaskStatus::kNoLegalMapping) return;
  asked.result = std::make_shared<const TaskResult>(std::move(result));
  if (store_ != nullptr && asked.result->status != TaskStatus::kFailed && !asked.is_line())
    store_->put(asked.key, asked.result);
}

TaskPool::Batch::Batch(TaskPool& pool) : pool_(pool), threads_(std::make_unique<Threads>(*pool.arena_)) {
  pool_.batches_.push_back(this);
}

TaskPool::Batch::~Batch() {
  threads_.reset();
  std::erase(pool_.batches_, this);
}

bool TaskPool::Batch::at_work(const Named& asked) const {
  return at_work_.contains(asked.key) || (asked.by_use && at_work_.contains(*asked.by_use));
}

/// Of questions that may have one answer the first is looked into, and the others wait for it.
void TaskPool::Batch::take(Named& asked) {
  if (pool_.stop_.stop_requested()) return;
  if (std::ranges::any_of(pool_.batches_, [&](const Batch* one) { return one->at_work(asked); })) {
    waiting_.push_back(&asked);
    return;
  }
  at_work_.insert(asked.key);
  if (asked.by_use) at_work_.insert(*asked.by_use);
  taken_.push_back(&asked);
  asked.result = pool_.recall(asked);
  if (asked.result) return;
  asked.searched = true;
  if (asked.is_line()) asked.proven = pool_.proven_;
  threads_->run([this, &asked] { pool_.search(asked); });
}

void TaskPool::Batch::take_waiting() {
  for (Named* one : std::exchange(waiting_, {})) take(*one);
}

void TaskPool::Batch::ask(PoolQuestion question) { take(asked_.emplace_back(pool_.name(std::move(question)))); }

/// Waits for what is at work, and passes it on to those that wait for it.
void TaskPool::Batch::collect() {
  threads_->wait();
  ProvenElsewhere learnt;
  for (const Named* one : std::exchange(taken_, {})) {
    if (!one->result) continue;
    ++(!one->searched || (one->is_line() && one->result->evaluations == 0) ? pool_.reused_ : pool_.solved_);
    if (one->searched) pool_.search_seconds_ += one->result->solve_seconds;
    learnt.add(one->learnt);
    pool_.keep(*one);
  }
  add(pool_.proven_, std::move(learnt));
  at_work_.clear();
  for (Batch* batch : pool_.batches_) batch->take_waiting();
}

std::vector<PoolAnswer> TaskPool::Batch::answers() {
  while (!taken_.empty() || !waiting_.empty()) {
    // What a batch is waited for that is not answered yet is answered before its time.
    const auto other = std::ranges::find_if(pool_.batches_, [](const Batch* one) { return !one->taken_.empty(); });
    if (!taken_.empty())
      collect();
    else if (other != pool_.batches_.end())
      (*other)->collect();
    else
      take_waiting();
  }
  std::vector<PoolAnswer> answers;
  for (const Named& one : asked_) {
    const auto known = pool_.known_.find(one.key);
    answers.push_back({one.key, known == pool_.known_.end() ? nullptr : known->second});
  }
  asked_.clear();
  return answers;
}

void TaskPool::for_each(std::size_t count, const std::function<void(std::size_t)>& call) const {
  // Isolated: who waits here takes no search meanwhile.
  arena_->arena.execute(
      [&] { tbb::this_task_arena::isolate([&] { tbb::parallel_for(std::size_t{0}, count, call); }); });
}

void TaskPool::keep(const Named& answered) {
  const auto result = answered.only_bounds ? without_details(*answered.result) : answered.result;
  known_.emplace(answered.key, result);
  if (answered.by_use && result->status == TaskStatus::kSolved) known_by_use_.emplace(*answered.by_use, result);
}

std::vector<PoolAnswer> TaskPool::answer(const std::shared_ptr<const DesignPoint>& design,
                                         const DistinctLayers& layers) {
  if (!design->accelerator) return std::vector<PoolAnswer>(layers.layers.size());
  Batch batch(*this);
  for (std::size_t i = 0; i < layers.layers.size(); ++i)
    batch.ask({design, layers.layers[i].get(), layers.networks[i]});
  return batch.answers();
}

}  // namespace pliant
