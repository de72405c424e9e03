// SPDX-License-Identifier: Apache-2.0
// Work before the first task that may take long, counted for whoever watches.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

namespace pliant {

struct PhaseProgress {
  std::string what;  ///< "counting designs"
  std::int64_t done = 0, total = 0;
};
using OnPhase = std::function<void(const PhaseProgress&)>;

/// Reports when it begins, then at most ten times a second. Safe to use from several threads; reports come one at a
/// time.
class Phase {
 public:
  Phase(const OnPhase& on_phase, std::string what, std::int64_t total)
      : on_phase_(on_phase), what_(std::move(what)), total_(total) {
    if (on_phase_ && total_ > 0) on_phase_({what_, 0, total_});
  }
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

  void advance(std::int64_t by) {
    const std::int64_t done = done_ += by;
    if (!on_phase_) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    const auto now = std::chrono::steady_clock::now();
    if (!lock || now - reported_ < std::chrono::milliseconds(100)) return;
    reported_ = now;
    on_phase_({what_, done, total_});
  }

 private:
  const OnPhase& on_phase_;
  std::string what_;
  std::int64_t total_;
  std::atomic<std::int64_t> done_{0};
  std::mutex mutex_;  ///< guards the next, and the reports
  std::chrono::steady_clock::time_point reported_ = std::chrono::steady_clock::now();
};

}  // namespace pliant
