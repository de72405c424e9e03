// SPDX-License-Identifier: Apache-2.0
// The interval that a dry run states, against the sweep itself. Both are measured in processor time of one thread, so
// that a busy machine does not decide.
#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <vector>

#include "dse/sweep/run_sweep.h"
#include "support/shipped_library.h"
#include "support/slowdown.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Trial {
  SweepEstimate estimate;
  double took = 0;
  bool holds() const { return estimate.seconds_low <= took && took <= estimate.seconds_high; }
};

Trial try_estimate(const std::string& text) {
  const TemporaryFolder folder;
  const Sweep sweep = parse_sweep_text(library(), text, "toy.yaml");
  SweepRunOptions options;
  options.dataset = folder.path() / "data";
  options.threads = 1;
  options.seconds_now = processor_seconds;
  Trial trial;
  trial.estimate = estimate_sweep(library(), sweep, options, 0.3 * tests::kSlowdown);
  const double before = processor_seconds();
  run_sweep(library(), sweep, options);
  trial.took = processor_seconds() - before;
  return trial;
}

TEST(SweepEstimate, IntervalsHoldTheSweepsThemselves) {
  // Many short tasks, few long ones, and a mapper that searches by chance.
  const std::vector<std::string> sweeps{
      "accelerator: flexref\nworkloads: [alexnet]\nvary: {rows: [8, 16], cols: [16, 64]}\nflexibility: [\"1000\", "
      "\"1010\", \"1111\"]\n",
      "accelerator: npu\nworkloads: [mobilenet_v2]\nvary: {rows: [8, 32]}\n",
      "accelerator: eyeriss\nworkloads: [{name: products, layers: [\"gemm:M=64,N=96,K=128\", "
      "\"gemm:M=1,N=1000,K=512\"]}]\nvary: {GlobalBuffer.capacity: [16Ki, 32Ki, 64Ki, 128Ki]}\nmapper: local\n"};
  // 19 of 20 is the promise. A processor that changes its speed between the sample and the sweep breaks it, so each
  // sweep may be tried again; an estimate that is wrong by itself misses every time.
  constexpr int kTrials = 4;
  for (const std::string& text : sweeps) {
    bool holds = false;
    for (int i = 0; i < kTrials && !holds; ++i) {
      const Trial trial = try_estimate(text);
      EXPECT_LE(trial.estimate.seconds_low, trial.estimate.seconds);
      EXPECT_LE(trial.estimate.seconds, trial.estimate.seconds_high);
      EXPECT_GT(trial.estimate.sampled, 5);
      EXPECT_LT(trial.estimate.seconds_high, 6 * trial.estimate.seconds_low) << "an interval that says nothing";
      holds = trial.holds();
      RecordProperty("interval" + std::to_string(&text - sweeps.data()),
                     std::to_string(trial.estimate.seconds_low) + " to " + std::to_string(trial.estimate.seconds_high) +
                         ", took " + std::to_string(trial.took));
    }
    EXPECT_TRUE(holds) << text;
  }
}

}  // namespace
}  // namespace pliant
