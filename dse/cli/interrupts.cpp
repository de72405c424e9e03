// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/interrupts.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>

namespace pliant {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM};
std::atomic<int> signals_seen{0};
static_assert(std::atomic<int>::is_always_lock_free);

void end_at_once() {
  constexpr char kText[] = "\nstopped; what is finished is kept, the same command continues\n";
  // Nothing can be done about a terminal that is gone.
  if (::write(STDERR_FILENO, kText, sizeof kText - 1) < 0) ::_exit(130);
  ::_exit(130);
}

void on_signal(int) {
  if (signals_seen.fetch_add(1) > 0) end_at_once();
}

}  // namespace

Interrupts::Interrupts(double patience_seconds) {
  signals_seen = 0;
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
      if (stop_.request_stop()) asked = Clock::now();
      if (Clock::now() - asked > std::chrono::duration<double>(patience_seconds)) end_at_once();
    }
  });
}

Interrupts::~Interrupts() {
  for (const int signal : kSignals) ::signal(signal, SIG_DFL);
}

}  // namespace pliant
