// SPDX-License-Identifier: Apache-2.0
// Many searches keep one budget together, by a clock that the test drives.
#include "dse/mappers/shared_budget.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

class DrivenClock final : public Clock {
 public:
  double wall_seconds() const override { return now; }
  double cpu_seconds() const override { return now; }
  mutable double now = 0;
};

/// Takes all the time that it is given.
class Slow final : public Mapper {
 public:
  explicit Slow(const DrivenClock& clock) : clock_(clock) {}
  std::string_view name() const override { return "slow"; }
  SearchResult search(const Task&, const SearchOptions& options) const override {
    clock_.now += options.budget.seconds > 0 ? options.budget.seconds : 1000;
    return {};
  }

 private:
  const DrivenClock& clock_;
};

TEST(SharedBudget, SearchesTogetherKeepIt) {
  const DrivenClock clock;
  const Slow slow(clock);
  SearchOptions options;
  options.clock = &clock;
  options.budget.seconds = 2;
  const SharedBudget shared(slow, options, 10);
  EXPECT_EQ(shared.options().budget.seconds, 0);
  for (int i = 0; i < 10; ++i) shared.search({}, shared.options());
  EXPECT_LT(clock.now, 2);
  EXPECT_FALSE(shared.options().stop.stop_requested());
  int searches = 0;
  while (!shared.options().stop.stop_requested() && ++searches < 1000) shared.search({}, shared.options());
  EXPECT_LT(searches, 200);
  EXPECT_GE(clock.now, 2);
  EXPECT_LE(clock.now, 2.002);
}

TEST(SharedBudget, WithoutABudgetNothingIsLimited) {
  const DrivenClock clock;
  const Slow slow(clock);
  SearchOptions options;
  options.clock = &clock;
  const SharedBudget shared(slow, options, 3);
  shared.search({}, shared.options());
  EXPECT_EQ(clock.now, 1000);
  EXPECT_FALSE(shared.options().stop.stop_requested());
}

TEST(SharedBudget, AStopIsPassedOn) {
  const DrivenClock clock;
  const Slow slow(clock);
  std::stop_source stop;
  SearchOptions options;
  options.clock = &clock;
  options.stop = stop.get_token();
  const SharedBudget shared(slow, options, 3);
  EXPECT_FALSE(shared.options().stop.stop_requested());
  stop.request_stop();
  EXPECT_TRUE(shared.options().stop.stop_requested());
}

}  // namespace
}  // namespace pliant
