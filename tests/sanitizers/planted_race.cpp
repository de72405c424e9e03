// SPDX-License-Identifier: Apache-2.0
// A race on purpose, in the body of a parallel loop such as ours: the thread sanitizer must report it, whatever
// cmake/tsan.supp leaves out.
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <thread>

int main() {
  long found = 0;
  tbb::task_arena(2).execute([&] {
    tbb::parallel_for(std::size_t{0}, std::size_t{1000}, [&](std::size_t) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));  // so that both threads take part
      ++found;
    });
  });
  std::printf("%ld\n", found);
  return 0;
}
