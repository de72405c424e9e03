// SPDX-License-Identifier: Apache-2.0
// Random tasks beyond those of the unit tests, as many as anyone likes: the exact mapper against the enumeration of all
// mappings, without and with deadlines, relations between tasks, and small networks against all combinations. It stops
// at the first difference and prints it, shrunk, as files and commands. The last line says how many cases were compared
// and how many differ. Seeds from 1000000000000 on draw every convention by itself and mostly rules that leave
// remainders.
//
//     PLIANT_CASES=1000000 PLIANT_SEED=1 PLIANT_THREADS=2 build/release/bin/campaign_test
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "support/campaign.h"

namespace pliant {
namespace {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Blocks of seeds, dealt to threads until enough cases were compared or two values differ.
class Campaign {
 public:
  Campaign(std::uint64_t seed, std::uint64_t cases) : first_(seed), next_(seed), cases_(cases) {}

  void work() {
    for (;;) {
      std::uint64_t block = 0;
      {
        const std::scoped_lock lock(mutex_);
        if (all_.compared >= cases_ || all_.differing > 0) return;
        block = next_;
        next_ += kBlock;
      }
      const tests::CampaignReport report = tests::run_seeds(block, kBlock);
      const std::scoped_lock lock(mutex_);
      all_.drawn += report.drawn;
      all_.compared += report.compared;
      all_.open += report.open;
      all_.relations += report.relations;
      all_.deadlines += report.deadlines;
      all_.predictions += report.predictions;
      all_.open_predictions += report.open_predictions;
      all_.networks += report.networks;
      all_.open_networks += report.open_networks;
      if (report.differing > 0 && all_.differing == 0) all_.first = report.first;
      all_.differing += report.differing;
      if (all_.compared / kShown > shown_) {
        shown_ = all_.compared / kShown;
        std::cout << summary() << std::endl;
      }
    }
  }

  std::string summary() const {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
    return fmt::format(
        "{} cases compared ({} with deadlines) of {} drawn, {} relations, {} predictions, {} networks; without a "
        "certificate {} cases, {} predictions, {} networks; {} differ; seeds {} to {}, {:.0f} s",
        all_.compared, all_.deadlines, all_.drawn, all_.relations, all_.predictions, all_.networks, all_.open,
        all_.open_predictions, all_.open_networks, all_.differing, first_, next_ - 1, seconds);
  }
  const tests::CampaignReport& report() const { return all_; }

 private:
  static constexpr std::uint64_t kBlock = 500, kShown = 10'000;

  const std::uint64_t first_;
  std::uint64_t next_, shown_ = 0;
  const std::uint64_t cases_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  tests::CampaignReport all_;
};

TEST(Campaign, ExactEqualsEnumerationAndRelationsHold) {
  const std::uint64_t cases = setting("PLIANT_CASES", 20'000), threads = setting("PLIANT_THREADS", 1);
  Campaign campaign(setting("PLIANT_SEED", 1), cases);
  {
    std::vector<std::jthread> workers;
    for (std::uint64_t n = 0; n < threads; ++n) workers.emplace_back([&] { campaign.work(); });
  }
  std::cout << "end: " << campaign.summary() << std::endl;
  const tests::CampaignReport& report = campaign.report();
  ASSERT_EQ(report.differing, 0U) << report.first;
  EXPECT_GE(report.compared, cases);
  EXPECT_LE(report.open, report.compared / 100);
}

}  // namespace
}  // namespace pliant
