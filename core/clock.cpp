// SPDX-License-Identifier: Apache-2.0
#include "core/clock.h"

#include <chrono>
#include <ctime>

namespace pliant {

namespace {

class RealClock final : public Clock {
 public:
  double wall_seconds() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  double cpu_seconds() const override {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }
};

}  // namespace

const Clock& real_clock() {
  static const RealClock clock;
  return clock;
}

}  // namespace pliant
