// SPDX-License-Identifier: Apache-2.0
// Searches of a study whose questions come up again: equal ones are searched once, and optima of chips that may do more
// are taken over.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dse/results/task_store.h"
#include "dse/studies/study_task.h"

namespace pliant {

/// `exact`, for questions without a limit of time. No mapping under some rules is better than the optimum of the same
/// chip without rules on T, O, P and S; so what is known of that chip and keeps the rules is their optimum where it is
/// as good. Whoever asks for the chip without rules first saves searches. Safe to use from several threads; those that
/// ask the same at once both search.
class SolvedOnce final : public Mapper {
 public:
  SolvedOnce() : mapper_(make_mapper("exact")) {}
  std::string_view name() const override { return mapper_->name(); }
  SearchResult search(const Task& task, const SearchOptions& options) const override;
  std::size_t searches() const;

 private:
  /// Of one chip, layer and objective, under whatever rules.
  struct OnChip {
    std::vector<TaskKey> asked;
    double least = 0;  ///< proven without rules
  };
  std::optional<SearchResult> taken_over(const Task& task, const OnChip& chip) const;

  std::unique_ptr<Mapper> mapper_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<TaskKey, SearchResult, TaskKeyHash> known_;
  mutable std::unordered_map<TaskKey, OnChip, TaskKeyHash> chips_;  ///< by the question without rules
  mutable std::size_t searches_ = 0;
};

}  // namespace pliant
