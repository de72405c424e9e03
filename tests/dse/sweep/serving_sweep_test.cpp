// SPDX-License-Identifier: Apache-2.0
// Served language models in sweeps: the figures of `pliant serve` on each design, and limits on them.
#include <gtest/gtest.h>

#include <fstream>

#include "dse/serving/serve.h"
#include "dse/sweep/design_space.h"
#include "dse/sweep/result_limits.h"
#include "dse/sweep/serving_task.h"
#include "dse/sweep/sweep.h"

namespace pliant {
namespace {

constexpr const char* kModel = R"({"model_type": "llama", "hidden_size": 128, "num_hidden_layers": 2,
  "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32, "intermediate_size": 256, "vocab_size": 512})";

class ServedSweep : public ::testing::Test {
 protected:
  static const Library& library() {
    static const Library shipped(PLIANT_SOURCE_DIR "/configs");
    return shipped;
  }
  void SetUp() override {
    file_ = ::testing::TempDir() + "tiny_model.json";
    std::ofstream(file_) << kModel;
  }
  Sweep read(const std::string& more, const std::string& entry = "prompt: 64, output: 9, batch: [1, 4]",
             const std::string& accelerator = "npu") const {
    return parse_sweep_text(library(),
                            "pliant: sweep\nname: served\naccelerator: " + accelerator + "\nworkloads:\n  - {serve: " +
                                file_ + ", " + entry + "}\nvary: {cols: [16, 32]}\n" + more,
                            "sweep.yaml");
  }
  std::string file_;
};

TEST_F(ServedSweep, EveryBatchIsAWorkloadAndHasTheFiguresOfServe) {
  const Sweep sweep = read("");
  ASSERT_EQ(sweep.workloads.size(), 2u);
  EXPECT_EQ(sweep.workloads[1].name, "tiny_model_serve_64_9_batch4");
  DesignSpace space(library(), std::make_shared<const Sweep>(sweep));
  const DesignPoint design = space.design(1);
  const auto figures = solve_serving(sweep, design, sweep.workloads[1], {});
  ASSERT_TRUE(figures && figures->cost);
  serving::Request request = sweep.served.at(sweep.workloads[1].name);
  request.accelerator = *design.accelerator;
  request.objective = Objective::kRuntime;
  request.search.gap = request.gap / 4;
  const serving::Served served = serving::serve(request);
  request.parts = design.parts;
  EXPECT_EQ(request.batch, 4);
  EXPECT_EQ(figures->cost->ttft_s, served.ttft_s);
  EXPECT_EQ(figures->cost->tpot_s, served.tpot_s);
  EXPECT_EQ(figures->cost->tokens_per_j, served.tokens_per_j);
  EXPECT_FALSE(figures->largest_batch.has_value());
}

TEST_F(ServedSweep, TheVectorUnitOfTheFileTakesTime) {
  const auto seconds = [&](const std::string& lanes) {
    const std::string file = ::testing::TempDir() + "npu_" + lanes + ".yaml";
    std::ofstream(file) << std::ifstream(PLIANT_SOURCE_DIR "/configs/accelerators/npu.yaml").rdbuf()
                        << "vector: {lanes: " << lanes << "}\n";
    const Sweep sweep = read("", "prompt: 64, output: 9", file);
    DesignSpace space(library(), std::make_shared<const Sweep>(sweep));
    const auto figures = solve_serving(sweep, space.design(0), sweep.workloads[0], {});
    EXPECT_TRUE(figures && figures->cost);
    EXPECT_EQ(sweep.inputs.back().what, "vector");
    return std::pair(figures->cost->ttft_s, sweep.inputs.back().sha256);
  };
  const auto [few, few_hash] = seconds("1");
  const auto [many, many_hash] = seconds("64");
  EXPECT_GT(few, 1.5 * many);
  EXPECT_NE(few_hash, many_hash);
}

TEST_F(ServedSweep, WithoutAClockNothingIsServed) {
  const Sweep sweep = read("", "prompt: 64, output: 9");
  DesignSpace space(library(), std::make_shared<const Sweep>(sweep));
  DesignPoint design = space.design(0);
  Accelerator without = *design.accelerator;
  without.clock_hz.reset();
  design.accelerator = std::make_shared<const Accelerator>(without);
  const auto figures = solve_serving(sweep, design, sweep.workloads[0], {});
  ASSERT_TRUE(figures);
  EXPECT_FALSE(figures->cost);
  EXPECT_NE(figures->problem.find("no clock"), std::string::npos) << figures->problem;
}

TEST_F(ServedSweep, WhatDoesNotFitIsMarked) {
  const Sweep sweep = read("", "prompt: 64, output: 9, batch: 4, memory: 500 KB");
  DesignSpace space(library(), std::make_shared<const Sweep>(sweep));
  const auto figures = solve_serving(sweep, space.design(0), sweep.workloads[0], {});
  ASSERT_TRUE(figures);
  EXPECT_FALSE(figures->cost);
  // 2 layers: 128 * (128 + 2 * 64 + 128) + 3 * 128 * 256 + 2 norms; two embeddings of 512 and a norm.
  const double weights = 2 * (128.0 * (128 + 128 + 128) + 3.0 * 128 * 256 + 2 * 128) + 2 * 512 * 128 + 128;
  // Keys and values of 64 + 9 tokens, 2 heads of 32, 2 layers. The largest layer is at least a
  // projection of 128 to 256, and at most twice that (the scores: 64 * (128 + 64 + 4 * 64)).
  const double cache = 73.0 * 2 * 2 * 32 * 2, activations = 64.0 * (128 + 256);
  EXPECT_GT(weights + 2 * (cache + activations), 500e3);
  EXPECT_LT(weights + cache + 2 * activations, 500e3);
  EXPECT_EQ(*figures->largest_batch, 1);
  DesignRow row;
  row.status = "solved";
  take_serving(figures, row);
  EXPECT_EQ(row.status, kOverLimit);
  EXPECT_NE(row.reason.find("does not fit into DRAM"), std::string::npos);
}

TEST_F(ServedSweep, LimitsNameItsFigures) {
  EXPECT_EQ(read("constraints: ttft_s <= 200 ms\n").result_limits.size(), 1u);
  DesignRow row;
  row.serving.emplace();
  row.serving->cost = {0.1, 0.02, 50, 3, 0};
  row.serving->largest_batch = 7;
  EXPECT_EQ(result_value(row, "ttft_s"), 0.1);
  EXPECT_EQ(result_value(row, "tpot_s"), 0.02);
  EXPECT_EQ(result_value(row, "tokens_per_j"), 3);
  EXPECT_EQ(result_value(row, "largest_batch"), 7);
}

TEST_F(ServedSweep, KeysOfServingNeedAModel) {
  EXPECT_THROW(parse_sweep_text(
                   library(), "pliant: sweep\nname: s\naccelerator: npu\nworkloads: [{workload: alexnet, prompt: 3}]\n",
                   "sweep.yaml"),
               InputError);
  EXPECT_THROW(read("", "prompt: 64, workload: alexnet"), InputError);
  EXPECT_THROW(
      parse_sweep_text(library(),
                       "pliant: sweep\nname: s\naccelerator: npu\nworkloads: [alexnet]\nconstraints: ttft_s <= 1\n",
                       "sweep.yaml"),
      InputError);
}

}  // namespace
}  // namespace pliant
