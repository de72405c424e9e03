// SPDX-License-Identifier: Apache-2.0
// The limits of one search and what it has used of them; shared by all its threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <stop_token>

#include "core/arithmetic.h"
#include "dse/mappers/mapper.h"

namespace pliant::exact {

/// So many lattices are there at once, at most.
inline constexpr int kMostLattices = 16;

/// Shares of the memory: for the arrays of lattices, and for any list. The rest is for what charges have in common.
inline constexpr double kShareOfLattices = 0.55, kShareOfList = 0.25;

class SearchLimits {
 public:
  explicit SearchLimits(const SearchOptions& options)
      : clock_(*options.clock),
        stop_(options.stop),
        gap_(options.gap),
        memory_of_list_(kShareOfList * static_cast<double>(options.budget.memory_bytes)),
        memory_of_lattice_(kShareOfLattices * static_cast<double>(options.budget.memory_bytes) /
                           std::clamp(options.threads, 1, kMostLattices)) {
    if (options.budget.seconds > 0) deadline_ = started_ + options.budget.seconds;
  }

  /// Time is up, or somebody asked to stop. Asked every few microseconds of work; once true it stays true.
  bool expired() {
    if (expired_.load(std::memory_order_relaxed)) return true;
    if (stop_.stop_requested()) stopped_ = true;
    if (stopped_ || (deadline_ < kInfinity && clock_.wall_seconds() >= deadline_)) expired_ = true;
    return expired_.load(std::memory_order_relaxed);
  }
  bool stopped() const { return stopped_; }
  /// What need not be looked at when this value has been found: everything from here on is good enough.
  double enough(double value) const { return gap_ > 0 ? value * (1 - gap_) : value; }
  /// Would so much memory be too much for a list, of which there is one for all threads?
  bool too_long(double bytes) const { return bytes > memory_of_list_; }
  /// And for one of several lattices?
  bool too_large(double bytes) const { return bytes > memory_of_lattice_; }
  double seconds() const { return clock_.wall_seconds() - started_; }

  std::atomic<std::uint64_t> priced{0};
  /// Work done, in units of about a nanosecond, for limits that do not depend on the clock.
  std::atomic<std::uint64_t> effort{0};

 private:
  const Clock& clock_;
  double started_ = clock_.wall_seconds();
  std::stop_token stop_;
  double gap_;
  double deadline_ = kInfinity;                ///< by the clock
  double memory_of_list_, memory_of_lattice_;  // bytes
  std::atomic<bool> expired_{false}, stopped_{false};
};

}  // namespace pliant::exact
