// SPDX-License-Identifier: Apache-2.0
// What searches of layers have proven on other designs: a bound holds wherever nothing is better, and where a mapping
// found elsewhere runs for hardly more than the bound, no search is needed.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "dse/design/sized_task.h"
#include "dse/mappers/mapper.h"
#include "dse/results/task_store.h"
#include "dse/sweep/sweep_task.h"

namespace pliant {

/// Answers of proven searches.
class ProvenElsewhere {
 public:
  struct Answer {
    std::vector<double> sizes;
    SearchResult result;
  };

  void add(SizedTask task, SearchResult result);
  void add(const ProvenElsewhere& others);
  /// To tasks that differ in sizes only, the eldest first; may be null.
  const std::vector<Answer>* find(const Task& form) const;
  std::size_t size() const { return size_; }  ///< answers

 private:
  struct Group {
    Task form;
    std::vector<Answer> answers;
  };
  std::vector<Answer>& answers_to(Task form);

  std::unordered_multimap<std::size_t, Group> groups_;  ///< by a hash of the form
  std::size_t size_ = 0;
};

/// What is proven by now, eldest first, in pieces that never change: a search reads those that were there when it was
/// asked, while others add to what the next ones see.
using ProvenSoFar = std::vector<std::shared_ptr<const ProvenElsewhere>>;
/// Joins pieces of about the same size, so that there are few of them and nothing is copied often.
void add(ProvenSoFar& proven, ProvenElsewhere learnt);

/// Looks at what is proven first. What does not follow from it is searched, unless the store knows it, and is learnt.
/// Whatever is in the store, the answers are the same.
class RecallingMapper final : public Mapper {
 public:
  /// `store` may be null. All arguments must outlive it.
  RecallingMapper(const Mapper& mapper, const ProvenSoFar& proven, ProvenElsewhere& learnt, const TaskNamer& namer,
                  TaskStore* store)
      : mapper_(mapper), proven_(proven), learnt_(learnt), namer_(namer), store_(store) {}
  std::string_view name() const override { return mapper_.name(); }
  SearchResult search(const Task& task, const SearchOptions& options) const override;

  std::int64_t searches() const { return searches_; }  ///< that were needed

 private:
  SearchResult ask(const Task& task, const SearchOptions& options) const;

  const Mapper& mapper_;
  const ProvenSoFar& proven_;
  ProvenElsewhere& learnt_;
  const TaskNamer& namer_;
  TaskStore* store_;
  mutable std::int64_t searches_ = 0;
};

}  // namespace pliant
