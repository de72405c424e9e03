// SPDX-License-Identifier: Apache-2.0
// Between "please stop" and "stop now": work in flight that is nearly done may end.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace pliant {

/// Stops the mappers some time after the sweep was asked to stop.
class GraceTimer {
 public:
  GraceTimer(const std::stop_token& asked, double seconds)
      : thread_([this, asked, seconds](const std::stop_token& over) {
          std::mutex mutex;
          std::condition_variable_any wake;
          const std::stop_callback on_ask(asked, [&] { wake.notify_all(); });
          std::unique_lock lock(mutex);
          // A callback may come just before the wait: look again now and then.
          while (!asked.stop_requested() && !over.stop_requested())
            wake.wait_for(lock, over, std::chrono::milliseconds(50), [&] { return asked.stop_requested(); });
          if (over.stop_requested()) return;
          wake.wait_for(lock, over, std::chrono::duration<double>(seconds), [] { return false; });
          mappers_.request_stop();
        }) {}
  std::stop_token mappers() const { return mappers_.get_token(); }

 private:
  std::stop_source mappers_;
  std::jthread thread_;
};

}  // namespace pliant
