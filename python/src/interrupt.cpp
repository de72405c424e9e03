// SPDX-License-Identifier: Apache-2.0
#include "src/interrupt.h"

#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include <mutex>
#include <thread>

namespace pliant::python {
namespace {

std::mutex mutex;                     // guards `running`
std::stop_source* running = nullptr;  // of the search that the main thread waits for
struct sigaction before;              // the handler that stood there
sem_t pressed;
pid_t watched_by = 0;  // the process that has a watching thread; a forked child starts its own

void on_interrupt(int number, siginfo_t* info, void* context) {
  sem_post(&pressed);  // one of the few calls that are allowed here
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(number, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(number);
  }
}

void start_watching() {
  if (watched_by == getpid()) return;
  watched_by = getpid();
  sem_init(&pressed, 0, 0);
  std::thread([] {
    while (true) {
      if (sem_wait(&pressed) != 0) continue;
      const std::lock_guard lock(mutex);
      if (running != nullptr) running->request_stop();
    }
  }).detach();
}

/// Whether Ctrl-C means anything to the program: not when it is ignored or ends the process at once.
bool handled(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

}  // namespace

InterruptibleCall::InterruptibleCall(bool active) : active_(active) {
  if (!active_) return;
  struct sigaction now {};
  sigaction(SIGINT, nullptr, &now);
  active_ = handled(now) && !((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_interrupt);
  if (!active_) return;
  start_watching();
  {
    const std::lock_guard lock(mutex);
    running = &source_;
  }
  before = now;
  struct sigaction own {};
  own.sa_sigaction = on_interrupt;
  own.sa_flags = SA_SIGINFO;
  sigemptyset(&own.sa_mask);
  sigaction(SIGINT, &own, nullptr);
}

InterruptibleCall::~InterruptibleCall() {
  if (!active_) return;
  sigaction(SIGINT, &before, nullptr);
  const std::lock_guard lock(mutex);
  running = nullptr;
}

}  // namespace pliant::python
