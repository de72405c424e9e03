// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/shared_budget.h"

#include <algorithm>

#include "core/arithmetic.h"

namespace pliant {

namespace {

/// Of every search, in seconds: enough for a first mapping.
constexpr double kLeastTime = 1e-3;

}  // namespace

SharedBudget::SharedBudget(const Mapper& mapper, const SearchOptions& options, std::size_t parts)
    : mapper_(mapper),
      until_(options.budget.seconds > 0 ? options.clock->wall_seconds() + options.budget.seconds : kInfinity),
      parts_(static_cast<double>(parts)),
      asked_(options.stop),
      ask_(asked_, [this] { spent_.request_stop(); }),
      options_(options) {
  options_.budget.seconds = 0;
  options_.stop = spent_.get_token();
}

SearchResult SharedBudget::search(const Task& task, const SearchOptions& options) const {
  SearchOptions own = options;
  own.stop = asked_;
  if (until_ == kInfinity) return mapper_.search(task, own);
  own.budget.seconds = std::max(kLeastTime, (until_ - own.clock->wall_seconds()) / (parts_ + 1));
  SearchResult result = mapper_.search(task, own);
  if (own.clock->wall_seconds() >= until_) spent_.request_stop();
  return result;
}

}  // namespace pliant
