// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <stop_token>
#include <string_view>
#include <thread>

namespace pliant {

/// While it lives, Ctrl-C (and SIGTERM, which batch systems send) asks for a stop; a second one, or work that does not
/// end within the patience after the first, ends the process at once with 130, after the last words. One at a time.
/// Once it was asked, a later Ctrl-C still gives 130, without words, when it is gone.
class StopSignals {
 public:
  /// The last words must outlive it.
  explicit StopSignals(std::string_view last_words = {},
                       double patience_seconds = std::numeric_limits<double>::infinity());
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  std::stop_token token() const { return source_.get_token(); }
  bool asked() const { return source_.stop_requested(); }

 private:
  std::stop_source source_;
  std::jthread watcher_;
};

}  // namespace pliant
