// SPDX-License-Identifier: Apache-2.0
// Ctrl-C asks a search to end with what it has; a second one ends the program at once.
#pragma once

#include <stop_token>
#include <thread>

namespace pliant {

/// While it lives, SIGINT and SIGTERM request a stop. One at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  std::stop_token token() const { return source_.get_token(); }
  bool asked() const { return source_.stop_requested(); }

 private:
  std::stop_source source_;
  std::jthread watcher_;
};

}  // namespace pliant
