// SPDX-License-Identifier: Apache-2.0
// A search that only has to prove a bound: it begins with a mapping that is known to run, and ends within a gap.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "dse/mappers/mapper.h"
#include "dse/results/task_result.h"

namespace pliant {

struct BoundSearch {
  double gap = 0;                           ///< close enough to the best, as in SearchOptions
  std::shared_ptr<const TaskResult> start;  ///< its mapping is legal there; null: none is known
  double slope = 0;                         ///< of a workload that is asked as a whole: the line
};

/// The exact mapper; where a bound is enough, as sharp as that takes. The start is used where factors are perfect.
class BoundMapper final : public Mapper {
 public:
  BoundMapper(const Mapper& exact, const std::optional<BoundSearch>& bound) : exact_(exact), bound_(bound) {}
  std::string_view name() const override { return exact_.name(); }
  SearchResult search(const Task& task, const SearchOptions& options) const override;

 private:
  const Mapper& exact_;
  const std::optional<BoundSearch>& bound_;
};

}  // namespace pliant
