// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/stop_signals.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>

namespace pliant {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM};
std::atomic<int> signals_seen{0};
static_assert(std::atomic<int>::is_always_lock_free);
std::string_view said_at_the_end;

void end_at_once() {
  // Nothing can be done about a terminal that is gone.
  if (::write(STDERR_FILENO, said_at_the_end.data(), said_at_the_end.size()) < 0) ::_exit(130);
  ::_exit(130);
}

void on_signal(int) {
  if (signals_seen.fetch_add(1) > 0) end_at_once();
}

}  // namespace

StopSignals::StopSignals(std::string_view last_words, double patience_seconds) {
  signals_seen = 0;
  said_at_the_end = last_words;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int signal : kSignals) ::sigaction(signal, &action, nullptr);
  watcher_ = std::jthread([this, patience_seconds](const std::stop_token& over) {
    using Clock = std::chrono::steady_clock;
    Clock::time_point asked{};
    while (!over.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (signals_seen == 0) continue;
      if (source_.request_stop()) asked = Clock::now();
      if (std::chrono::duration<double>(Clock::now() - asked).count() > patience_seconds) end_at_once();
    }
  });
}

StopSignals::~StopSignals() {
  said_at_the_end = {};
  // Who has asked once is about to get 130, and gets it from a second Ctrl-C as well, however late it comes.
  if (signals_seen > 0) return;
  for (const int signal : kSignals) ::signal(signal, SIG_DFL);
}

}  // namespace pliant
