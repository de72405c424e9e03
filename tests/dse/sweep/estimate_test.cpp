// SPDX-License-Identifier: Apache-2.0
// The interval that a dry run states, against the sweep itself. Both are measured by a clock that runs with the work of
// the searches, so that the machine does not decide.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dse/sweep/run_sweep.h"
#include "support/driven_clock.h"
#include "support/shipped_library.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

struct Trial {
  SweepEstimate estimate;
  double took = 0;
};

/// A look at the clock is worth about so much work of a search.
constexpr double kSecondsALook = 1e-5;

Trial try_estimate(const std::string& text) {
  const TemporaryFolder folder;
  const Sweep sweep = parse_sweep_text(library(), text, "toy.yaml");
  const tests::DrivenClock clock(kSecondsALook);
  SweepRunOptions options;
  options.dataset = folder.path() / "data";
  options.threads = 1;
  options.clock = &clock;
  Trial trial;
  trial.estimate = estimate_sweep(library(), sweep, options, 0.3);
  const double before = clock.seconds();
  run_sweep(library(), sweep, options);
  trial.took = clock.seconds() - before;
  return trial;
}

TEST(SweepEstimate, IntervalsHoldTheSweepsThemselves) {
  // Many short tasks, few long ones, and a mapper that searches by chance. A budget that is never reached: searches
  // look at the clock while they work.
  const std::vector<std::string> sweeps{
      "accelerator: flexref\nworkloads: [alexnet]\nvary: {rows: [8, 16], cols: [16, 64]}\nflexibility: [\"1000\", "
      "\"1010\", \"1111\"]\nbudget_seconds: 1e9\n",
      "accelerator: npu\nworkloads: [mobilenet_v2]\nnetwork: false\nvary: {rows: [8, 32]}\nbudget_seconds: 1e9\n",
      "accelerator: eyeriss\nworkloads: [{name: products, layers: [\"gemm:M=64,N=96,K=128\", "
      "\"gemm:M=1,N=1000,K=512\"]}]\nvary: {GlobalBuffer.capacity: [16Ki, 32Ki, 64Ki, 128Ki]}\nmapper: local\n"
      "budget_seconds: 1e9\n"};
  for (const std::string& text : sweeps) {
    SCOPED_TRACE(text);
    const Trial trial = try_estimate(text);
    EXPECT_LE(trial.estimate.seconds_low, trial.estimate.seconds);
    EXPECT_LE(trial.estimate.seconds, trial.estimate.seconds_high);
    EXPECT_GT(trial.estimate.sampled, 5);
    EXPECT_LT(trial.estimate.seconds_high, 6 * trial.estimate.seconds_low) << "an interval that says nothing";
    EXPECT_LE(trial.estimate.seconds_low, trial.took);
    EXPECT_GE(trial.estimate.seconds_high, trial.took);
    RecordProperty("interval" + std::to_string(&text - sweeps.data()),
                   std::to_string(trial.estimate.seconds_low) + " to " + std::to_string(trial.estimate.seconds_high) +
                       ", took " + std::to_string(trial.took));
  }
}

// The sample ends when its time is up: one task that begins before may end after it.
TEST(SweepEstimate, TheSampleTakesTheTimeItIsGiven) {
  const TemporaryFolder folder;
  const Sweep sweep = parse_sweep_text(
      library(),
      "accelerator: npu\nworkloads: [mobilenet_v2]\nnetwork: false\nvary: {rows: [8, 32]}\nbudget_seconds: 1e9\n",
      "toy.yaml");
  SweepRunOptions options;
  options.dataset = folder.path() / "data";
  options.threads = 1;
  const tests::DrivenClock clock(kSecondsALook);
  options.clock = &clock;
  std::int64_t before = 0;
  for (const double seconds : {1e-4, 0.1, 1e9}) {
    const SweepEstimate estimate = estimate_sweep(library(), sweep, options, seconds);
    EXPECT_GT(estimate.sampled, before);
    before = estimate.sampled;
  }
  const SweepEstimate all = estimate_sweep(library(), sweep, options, 0);
  EXPECT_EQ(before, all.distinct_tasks);
  EXPECT_EQ(all.sampled, 0);
}

/// A machine that works for others three quarters of the time.
class BusyClock final : public Clock {
 public:
  double wall_seconds() const override { return own_.wall_seconds(); }
  double cpu_seconds() const override { return own_.seconds() / 4; }

 private:
  tests::DrivenClock own_{kSecondsALook};
};

TEST(SweepEstimate, SaysWhatShareOfACoreTheSampleHad) {
  const TemporaryFolder folder;
  const Sweep sweep = parse_sweep_text(
      library(), "accelerator: npu\nworkloads: [mobilenet_v2]\nnetwork: false\nbudget_seconds: 1e9\n", "toy.yaml");
  SweepRunOptions options;
  options.dataset = folder.path() / "data";
  options.threads = 1;
  const BusyClock busy;
  const tests::DrivenClock idle(kSecondsALook);
  options.clock = &busy;
  EXPECT_NEAR(estimate_sweep(library(), sweep, options, 0.3).share_of_core, 0.25, 0.01);
  options.clock = &idle;
  EXPECT_EQ(estimate_sweep(library(), sweep, options, 0.3).share_of_core, 1);
}

}  // namespace
}  // namespace pliant
