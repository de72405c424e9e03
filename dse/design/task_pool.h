// SPDX-License-Identifier: Apache-2.0
// Answers questions, many at a time on all threads: from memory, from the result cache, or by a search.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "dse/design/bound_mapper.h"
#include "dse/design/bounded_space.h"
#include "dse/design/proven_elsewhere.h"
#include "dse/design/used_array.h"
#include "dse/results/task_store.h"
#include "dse/sweep/grace_timer.h"
#include "dse/sweep/sweep_task.h"

namespace pliant {

/// The best mapping of a layer on a design, or the best of a workload that is asked as a whole, or a line below it.
/// Layers and workloads live as long as the pool.
struct PoolQuestion {
  std::shared_ptr<const DesignPoint> design;
  const Layer* layer = nullptr;
  const Workload* network = nullptr;   ///< null: the layer
  std::optional<BoundSearch> bound{};  ///< when a bound is enough
};

struct PoolAnswer {
  TaskKey key;
  std::shared_ptr<const TaskResult> result;
};

class TaskPool {
  /// A question under its own name, and under that of all questions with the same mappings at the same costs.
  struct Named {
    PoolQuestion question;
    TaskKey key;
    std::optional<TaskKey> by_use{};
    bool only_bounds = false;  ///< the best mapping was not asked for
    std::shared_ptr<const TaskResult> result{};
    bool searched = false;     ///< or else recalled
    ProvenSoFar proven{};      ///< when the search began
    ProvenElsewhere learnt{};  ///< by the search
    bool is_line() const { return question.network != nullptr && question.bound; }
  };

 public:
  /// `store` may be null.
  TaskPool(const Sweep& sweep, TaskStore* store, int threads, std::stop_token stop);
  ~TaskPool();
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  /// Questions that are answered together. Threads begin to search while the caller thinks of the next one, or of
  /// another batch; of several batches the eldest is answered first. The answers do not depend on when threads search:
  /// what a batch finds is seen by what is asked or waits after answers().
  class Batch {
   public:
    explicit Batch(TaskPool& pool);
    ~Batch();
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    void ask(PoolQuestion question);
    /// In the order of the questions. After a stop they may lack results.
    std::vector<PoolAnswer> answers();

   private:
    struct Threads;
    bool at_work(const Named& asked) const;
    void take(Named& asked);
    void take_waiting();
    void collect();

    TaskPool& pool_;
    std::deque<Named> asked_;
    std::vector<Named*> taken_, waiting_;               ///< at work; those that may have the answer of one at work
    std::unordered_set<TaskKey, TaskKeyHash> at_work_;  ///< all names of those taken
    std::unique_ptr<Threads> threads_;                  ///< last: they use all of the above
  };
  /// Every layer on one design; answers lack results when the design has no accelerator.
  std::vector<PoolAnswer> answer(const std::shared_ptr<const DesignPoint>& design, const DistinctLayers& layers);

  /// Calls of the caller's own, side by side: threads that have no search to do help.
  void for_each(std::size_t count, const std::function<void(std::size_t)>& call) const;

  std::int64_t solved() const { return solved_; }
  std::int64_t reused() const { return reused_; }
  double search_seconds() const { return search_seconds_; }  ///< of all searches that this pool made, summed

 private:
  Named name(PoolQuestion question);
  std::shared_ptr<const TaskResult> recall(const Named& asked);
  TaskResult solve(Named& asked, const std::stop_token& stop) const;
  void search(Named& asked);
  void keep(const Named& answered);

  const Sweep& sweep_;
  TaskStore* store_;
  std::stop_token stop_;
  GraceTimer grace_;
  TaskNamer namer_;
  QuestionsByUse uses_;
  std::unique_ptr<Mapper> mapper_;
  std::unordered_map<TaskKey, std::shared_ptr<const TaskResult>, TaskKeyHash> known_;
  std::unordered_map<TaskKey, std::shared_ptr<const TaskResult>, TaskKeyHash> known_by_use_;  ///< those with a mapping
  ProvenSoFar proven_;  ///< by searches of layers for lines
  std::int64_t solved_ = 0, reused_ = 0;
  double search_seconds_ = 0;
  struct Arena;
  std::unique_ptr<Arena> arena_;
  std::vector<Batch*> batches_;  ///< whose answers are not taken yet, the eldest first
};

}  // namespace pliant
