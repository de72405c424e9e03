// SPDX-License-Identifier: Apache-2.0
// The limits of one search and what it has used of them; shared by all its threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>

#include "dse/mappers/mapper.h"

namespace pliant::exact {

class SearchLimits {
 public:
  using Clock = std::chrono::steady_clock;

  explicit SearchLimits(const SearchOptions& options)
      : stop_(options.stop),
        gap_(options.gap),
        memory_(options.budget.memory_bytes / static_cast<std::size_t>(std::max(1, options.threads))) {
    if (options.budget.seconds > 0)
      deadline_ =
          started_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.budget.seconds));
  }

  /// Time is up, or somebody asked to stop. Asked every few microseconds of work; once true it stays true.
  bool expired() {
    if (expired_.load(std::memory_order_relaxed)) return true;
    if (stop_.stop_requested()) stopped_ = true;
    if (stopped_ || (deadline_ && Clock::now() >= *deadline_)) expired_ = true;
    return expired_.load(std::memory_order_relaxed);
  }
  bool stopped() const { return stopped_; }
  /// What need not be looked at when this value has been found: everything from here on is good enough.
  double enough(double value) const { return gap_ > 0 ? value * (1 - gap_) : value; }
  /// Would this much memory in one thread be too much?
  bool too_large(double bytes) const { return bytes > static_cast<double>(memory_); }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - started_).count(); }

  std::atomic<std::uint64_t> priced{0};
  /// Work done, in units of about a nanosecond, for limits that do not depend on the clock.
  std::atomic<std::uint64_t> effort{0};

 private:
  Clock::time_point started_ = Clock::now();
  std::stop_token stop_;
  double gap_;
  std::optional<Clock::time_point> deadline_;
  std::size_t memory_;
  std::atomic<bool> expired_{false}, stopped_{false};
};

}  // namespace pliant::exact
