// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

namespace pliant {

/// While it lives, Ctrl-C (and SIGTERM, which batch systems send) asks for a stop; a second one, or work that does not
/// end within the patience after the first, ends the process at once with 130. Datasets survive that.
class Interrupts {
 public:
  explicit Interrupts(double patience_seconds);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  std::stop_token stop() const { return stop_.get_token(); }

 private:
  std::stop_source stop_;
  std::jthread watcher_;
};

}  // namespace pliant
