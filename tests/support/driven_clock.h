// SPDX-License-Identifier: Apache-2.0
// A clock that runs with the work and not with the machine: every look at it takes the same time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "core/clock.h"

namespace pliant::tests {

class DrivenClock final : public Clock {
 public:
  /// 0 seconds a look: the clock stands still. `on_look` gets the number of each look, from 1.
  explicit DrivenClock(double seconds_a_look, std::function<void(std::uint64_t)> on_look = {})
      : seconds_a_look_(seconds_a_look), on_look_(std::move(on_look)) {}

  double wall_seconds() const override {
    const std::uint64_t look = ++looks_;
    if (on_look_) on_look_(look);
    return static_cast<double>(look) * seconds_a_look_ + waited_;
  }
  double cpu_seconds() const override { return seconds(); }

  double seconds() const { return static_cast<double>(looks_.load()) * seconds_a_look_ + waited_; }
  std::uint64_t looks() const { return looks_; }
  void wait(double seconds) { waited_ = waited_ + seconds; }

 private:
  double seconds_a_look_;
  std::function<void(std::uint64_t)> on_look_;
  mutable std::atomic<std::uint64_t> looks_{0};
  std::atomic<double> waited_{0};
};

}  // namespace pliant::tests
