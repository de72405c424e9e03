// SPDX-License-Identifier: Apache-2.0
// Many searches keep one budget together, by a clock that the test drives.
#include "dse/mappers/shared_budget.h"

#include <gtest/gtest.h>

#include "dse/mappers/residency/residency.h"
#include "support/driven_clock.h"
#include "support/shipped_library.h"

namespace pliant {
namespace {

/// Takes all the time that it is given.
class Slow final : public Mapper {
 public:
  explicit Slow(tests::DrivenClock& clock) : clock_(clock) {}
  std::string_view name() const override { return "slow"; }
  SearchResult search(const Task&, const SearchOptions& options) const override {
    clock_.wait(options.budget.seconds > 0 ? options.budget.seconds : 1000);
    return {};
  }

 private:
  tests::DrivenClock& clock_;
};

TEST(SharedBudget, SearchesTogetherKeepIt) {
  tests::DrivenClock clock(0);
  const Slow slow(clock);
  SearchOptions options;
  options.clock = &clock;
  options.budget.seconds = 2;
  const SharedBudget shared(slow, options, 10);
  EXPECT_EQ(shared.options().budget.seconds, 0);
  for (int i = 0; i < 10; ++i) shared.search({}, shared.options());
  EXPECT_LT(clock.seconds(), 2);
  EXPECT_FALSE(shared.options().stop.stop_requested());
  int searches = 0;
  while (!shared.options().stop.stop_requested() && ++searches < 1000) shared.search({}, shared.options());
  EXPECT_LT(searches, 200);
  EXPECT_GE(clock.seconds(), 2);
  EXPECT_LE(clock.seconds(), 2.002);
}

TEST(SharedBudget, WithoutABudgetNothingIsLimited) {
  tests::DrivenClock clock(0);
  const Slow slow(clock);
  SearchOptions options;
  options.clock = &clock;
  const SharedBudget shared(slow, options, 3);
  shared.search({}, shared.options());
  EXPECT_EQ(clock.seconds(), 1000);
  EXPECT_FALSE(shared.options().stop.stop_requested());
}

TEST(SharedBudget, AStopIsPassedOn) {
  tests::DrivenClock clock(0);
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

/// Takes a while whatever it is given, as searches do that have much to set up.
class Heavy final : public Mapper {
 public:
  explicit Heavy(tests::DrivenClock& clock) : clock_(clock), exact_(make_mapper("exact")) {}
  std::string_view name() const override { return "exact"; }
  SearchResult search(const Task& task, const SearchOptions& options) const override {
    clock_.wait(kSeconds);
    SearchOptions own = options;
    own.budget.seconds = 0;
    return exact_->search(task, own);
  }
  static constexpr double kSeconds = 0.01;

 private:
  tests::DrivenClock& clock_;
  std::unique_ptr<Mapper> exact_;
};

// A network has many more variants of layers than a budget has time for: what is not searched by then has floors.
TEST(SharedBudget, ANetworkEndsWithItAndHasABound) {
  const Accelerator accelerator = load_accelerator(library(), "npu");
  const Workload workload = load_workload(library(), "mobilenet_v2");
  std::vector<Task> rows;
  for (const Workload::Entry& entry : workload.layers)
    rows.push_back({entry.layer, accelerator, accelerator.flexibility_of(entry.layer)});
  for (const Count inferences : {1, 10}) {
    for (const double seconds : {0.2, 1.0, 2.0}) {
      SCOPED_TRACE(std::to_string(inferences) + " inferences, " + std::to_string(seconds) + " s");
      tests::DrivenClock clock(0);
      const Heavy heavy(clock);
      SearchOptions options;
      options.clock = &clock;
      options.budget.seconds = seconds;
      const SharedBudget shared(heavy, options, kSearchesOfALayer * rows.size());
      residency::Search search(shared, workload, rows, shared.options(), inferences);
      const residency::Optimum best = search.run({Objective::kEdp}, true),
                               outside = search.run({Objective::kEdp}, false);
      ASSERT_TRUE(best.found());
      ASSERT_TRUE(outside.found());
      // Two searches of every layer begin, and one is made whatever time is left.
      const double layers = static_cast<double>(rows.size()) * Heavy::kSeconds;
      EXPECT_LE(clock.seconds(), seconds < 2 * layers ? seconds + layers : 1.1 * seconds);
      EXPECT_GT(best.lower_bound, 0.05 * best.value);
      EXPECT_LE(best.lower_bound, best.value);
      EXPECT_GT(outside.lower_bound, 0.05 * outside.value);
    }
  }
}

}  // namespace
}  // namespace pliant
