// SPDX-License-Identifier: Apache-2.0
// How much CPU time a thread spends on something.
#pragma once

#include <atomic>
#include <ctime>

namespace pliant {

/// Of the calling thread.
inline double thread_cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Adds the CPU time that its thread spends while it lives to a sum.
class AddTime {
 public:
  explicit AddTime(std::atomic<double>& sum) : sum_(sum) {}
  ~AddTime() { sum_.fetch_add(thread_cpu_seconds() - start_, std::memory_order_relaxed); }
  AddTime(const AddTime&) = delete;
  AddTime& operator=(const AddTime&) = delete;

 private:
  std::atomic<double>& sum_;
  double start_ = thread_cpu_seconds();
};

}  // namespace pliant
