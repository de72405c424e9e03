// SPDX-License-Identifier: Apache-2.0
// Ctrl-C during a search that Python's main thread waits for.
//
// Python's own handler only leaves a note, which nobody reads while C++ runs. So for as long as the search takes, a
// handler stands before it that also wakes a thread, and that thread asks the search to stop. After the search Python
// reads its note and raises KeyboardInterrupt, or calls the handler that the program has set. All of it costs less than
// two microseconds a call.
#pragma once

#include <stop_token>

namespace pliant::python {

/// While it lives, Ctrl-C asks for a stop. Only for the main thread, and one at a time; `active` false does nothing.
class InterruptibleCall {
 public:
  explicit InterruptibleCall(bool active);
  ~InterruptibleCall();
  InterruptibleCall(const InterruptibleCall&) = delete;
  InterruptibleCall& operator=(const InterruptibleCall&) = delete;
  std::stop_token token() const { return source_.get_token(); }
  bool asked() const { return source_.stop_requested(); }

 private:
  std::stop_source source_;
  bool active_;
};

}  // namespace pliant::python
