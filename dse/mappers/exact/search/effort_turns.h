// SPDX-License-Identifier: Apache-2.0
// A limited effort, dealt out in turns.
#pragma once

#include <cstdint>
#include <limits>

#include "dse/mappers/exact/task/search_limits.h"

namespace pliant::exact {

class EffortTurns {
 public:
  static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

  /// In units of about a nanosecond; 0: no limit.
  EffortTurns(const SearchLimits& limits, std::uint64_t effort)
      : limits_(&limits), all_(effort > 0 ? effort : kNoLimit) {}

  /// A limit of its own for what comes next.
  EffortTurns from_here(std::uint64_t effort) const {
    EffortTurns turns(*limits_, effort);
    turns.before_ = limits_->effort;
    return turns;
  }

  /// From here on until this share of all effort is used.
  void begin(double until_share) {
    begin_ = limits_->effort;
    end_ = all_ == kNoLimit ? kNoLimit : before_ + static_cast<std::uint64_t>(until_share * static_cast<double>(all_));
  }
  /// What is left of this share of the turn.
  std::uint64_t left(double share) const {
    if (all_ == kNoLimit) return kNoLimit;
    if (end_ <= begin_) return 0;
    const std::uint64_t used = limits_->effort;
    const auto most = begin_ + static_cast<std::uint64_t>(share * static_cast<double>(end_ - begin_));
    return most > used ? most - used : 0;
  }
  /// Is less than this share of all effort left of the turn?
  bool ends_within(double share) const {
    return all_ != kNoLimit && static_cast<double>(left(1)) < share * static_cast<double>(all_);
  }

  /// Of what is left, what each of so many choices may take: together half of it.
  static std::uint64_t allowance(std::uint64_t left, std::size_t choices) {
    constexpr double kShareOfOne = 0.5;
    return left == kNoLimit
               ? left
               : static_cast<std::uint64_t>(kShareOfOne * static_cast<double>(left) / static_cast<double>(choices));
  }

 private:
  const SearchLimits* limits_;
  std::uint64_t all_, before_ = 0, begin_ = 0, end_ = 0;
};

}  // namespace pliant::exact
