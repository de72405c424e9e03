// SPDX-License-Identifier: Apache-2.0
// Work done for one choice and work allowed, in units of about a nanosecond: a limit that ends at the same place on
// every machine.
#pragma once

#include <cstdint>
#include <limits>

#include "dse/mappers/exact/task/search_limits.h"

namespace pliant::exact {

class WorkAllowed {
 public:
  explicit WorkAllowed(SearchLimits& limits) : limits_(limits) {}
  ~WorkAllowed() { limits_.effort += done_; }
  WorkAllowed(const WorkAllowed&) = delete;
  WorkAllowed& operator=(const WorkAllowed&) = delete;

  void allow(std::uint64_t effort) { allowed_ = effort; }
  void work(std::uint64_t effort) { done_ += effort; }
  bool spent() const { return done_ > allowed_; }
  /// Time is up, somebody asked to stop, or the effort allowed is spent. Once true it stays true.
  bool over() const { return spent() || limits_.expired(); }
  bool too_large(double bytes) const { return limits_.too_large(bytes); }

 private:
  SearchLimits& limits_;
  std::uint64_t done_ = 0, allowed_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace pliant::exact
