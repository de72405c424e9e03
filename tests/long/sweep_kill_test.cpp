// SPDX-License-Identifier: Apache-2.0
// A sweep that is killed again and again, without warning, ends with exactly the files of an undisturbed one.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <string>
#include <thread>

#include "support/temporary_folder.h"
#include "support/toy_sweep.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

/// About a second of work, so that there is something to interrupt.
constexpr const char* kSweep = R"(pliant: sweep
name: killed
accelerator: flexref
workloads: [mobilenet_v2]
network: false
vary:
  rows: [8, 16]
  Buffer.capacity: [50KiB, 100KiB]
flexibility: all-16
)";

pid_t start(const fs::path& sweep, const fs::path& dataset) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::setenv("PLIANT_CONFIGS", PLIANT_SOURCE_DIR "/configs", 1);
  if (::freopen("/dev/null", "w", stdout) == nullptr || ::freopen("/dev/null", "w", stderr) == nullptr) ::_exit(99);
  ::execl(PLIANT_BINARY, PLIANT_BINARY, "sweep", sweep.c_str(), "-o", dataset.c_str(), "--threads", "2", nullptr);
  ::_exit(98);
}

int finish(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(SweepKill, FiftyKillsLeaveNoTrace) {
  const TemporaryFolder folder;
  const fs::path sweep = folder.path() / "killed.yaml";
  std::ofstream(sweep) << kSweep;
  const auto began = std::chrono::steady_clock::now();
  ASSERT_EQ(finish(start(sweep, folder.path() / "whole")), 0);
  const double whole_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const auto expected = dataset_files(folder.path() / "whole");
  ASSERT_GT(expected.size(), 4U);

  std::mt19937 random(7);
  int kills = 0, rounds = 0;
  for (; kills < 50 && rounds < 500; ++rounds) {
    // Kills of one dataset, each somewhere in what a whole run takes; once it is complete, the next dataset.
    const fs::path dataset = folder.path() / ("killed" + std::to_string(rounds));
    for (int attempt = 0; attempt < 20; ++attempt) {
      const double wait = std::uniform_real_distribution<double>(0, whole_seconds)(random);
      const pid_t child = start(sweep, dataset);
      std::this_thread::sleep_for(std::chrono::duration<double>(wait));
      ::kill(child, SIGKILL);
      const int status = finish(child);
      if (WIFEXITED(status)) {
        ASSERT_EQ(WEXITSTATUS(status), 0);
        break;
      }
      ++kills;
    }
    ASSERT_EQ(finish(start(sweep, dataset)), 0);
    const auto files = dataset_files(dataset);
    ASSERT_EQ(files.size(), expected.size());
    for (const auto& [name, bytes] : expected) ASSERT_TRUE(files.contains(name) && files.at(name) == bytes) << name;
    fs::remove_all(dataset);
  }
  EXPECT_GE(kills, 50);
  RecordProperty("kills", kills);
}

/// Ctrl-C is for a sweep that is under way: it answers from its first part on.
void wait_for_part(const fs::path& dataset) {
  for (int i = 0; i < 6000 && !fs::exists(dataset / "designs" / "part-000000.parquet"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

TEST(SweepKill, CtrlCEndsAndContinues) {
  const TemporaryFolder folder;
  const fs::path sweep = folder.path() / "killed.yaml";
  std::ofstream(sweep) << kSweep;
  ASSERT_EQ(finish(start(sweep, folder.path() / "whole")), 0);
  const fs::path dataset = folder.path() / "stopped";
  const pid_t child = start(sweep, dataset);
  wait_for_part(dataset);
  ::kill(child, SIGINT);
  const int status = finish(child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 0) GTEST_SKIP() << "it was done already";
  EXPECT_EQ(WEXITSTATUS(status), 130);
  ASSERT_EQ(finish(start(sweep, dataset)), 0);
  EXPECT_TRUE(dataset_files(dataset) == dataset_files(folder.path() / "whole"));
}

TEST(SweepKill, CtrlCTwiceEndsAtOnceAndContinues) {
  const TemporaryFolder folder;
  const fs::path sweep = folder.path() / "killed.yaml";
  std::ofstream(sweep) << kSweep;
  ASSERT_EQ(finish(start(sweep, folder.path() / "whole")), 0);
  const fs::path dataset = folder.path() / "stopped";
  const pid_t child = start(sweep, dataset);
  wait_for_part(dataset);
  ::kill(child, SIGINT);
  // Two signals that arrive together are one.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ::kill(child, SIGINT);
  const int status = finish(child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  ASSERT_EQ(finish(start(sweep, dataset)), 0);
  EXPECT_TRUE(dataset_files(dataset) == dataset_files(folder.path() / "whole"));
}

}  // namespace
}  // namespace pliant
