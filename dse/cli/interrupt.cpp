// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/interrupt.h"

#include <chrono>
#include <csignal>

namespace pliant {

namespace {

// The only thing a signal handler may touch.
volatile std::sig_atomic_t interrupted = 0;

extern "C" void note_interrupt(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

Interrupt::Interrupt() {
  interrupted = 0;
  std::signal(SIGINT, note_interrupt);
  std::signal(SIGTERM, note_interrupt);
  watcher_ = std::jthread([this](const std::stop_token& end) {
    while (!end.stop_requested()) {
      if (interrupted != 0) {
        source_.request_stop();
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
}

Interrupt::~Interrupt() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace pliant
