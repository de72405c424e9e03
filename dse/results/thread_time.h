// SPDX-License-Identifier: Apache-2.0
// How much CPU time a thread spends on something.
#pragma once

#include <atomic>

#include "core/clock.h"

namespace pliant {

/// Adds the CPU time that its thread spends while it lives to a sum.
class AddTime {
 public:
  explicit AddTime(std::atomic<double>& sum) : sum_(sum) {}
  ~AddTime() { sum_.fetch_add(real_clock().cpu_seconds() - start_, std::memory_order_relaxed); }
  AddTime(const AddTime&) = delete;
  AddTime& operator=(const AddTime&) = delete;

 private:
  std::atomic<double>& sum_;
  double start_ = real_clock().cpu_seconds();
};

}  // namespace pliant
