// SPDX-License-Identifier: Apache-2.0
// Served language models in sweeps: the figures of `pliant serve` on each design, and limits on them.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "dse/serving/best_division.h"
#include "dse/serving/serve.h"
#include "dse/sweep/design_space.h"
#include "dse/sweep/result_limits.h"
#include "dse/sweep/serving_task.h"
#include "dse/sweep/sweep.h"
#include "support/temporary_folder.h"

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
    file_ = file("tiny_model.json");
    std::ofstream(file_) << kModel;
  }
  Sweep read(const std::string& more, const std::string& entry = "prompt: 64, output: 9, batch: [1, 4]",
             const std::string& accelerator = "npu") const {
    return parse_sweep_text(library(),
                            "pliant: sweep\nname: served\naccelerator: " + accelerator + "\nworkloads:\n  - {serve: " +
                                file_ + ", " + entry + "}\nvary: {cols: [16, 32]}\n" + more,
                            "sweep.yaml");
  }
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

  const TemporaryFolder folder_;
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
  EXPECT_EQ(request.batch, 4);
  EXPECT_EQ(figures->cost->ttft_s, served.ttft_s);
  EXPECT_EQ(figures->cost->tpot_s, served.tpot_s);
  EXPECT_EQ(figures->cost->tokens_per_j, served.tokens_per_j);
  EXPECT_FALSE(figures->largest_batch.has_value());
}

TEST_F(ServedSweep, TheVectorUnitOfTheFileTakesTime) {
  const auto seconds = [&](const std::string& lanes) {
    const std::string chip = file("npu_" + lanes + ".yaml");
    std::ofstream(chip) << std::ifstream(PLIANT_SOURCE_DIR "/configs/accelerators/npu.yaml").rdbuf()
                        << "vector: {lanes: " << lanes << "}\n";
    const Sweep sweep = read("", "prompt: 64, output: 9", chip);
    DesignSpace space(library(), std::make_shared<const Sweep>(sweep));
    const auto figures = solve_serving(sweep, space.design(0), sweep.workloads[0], {});
    EXPECT_TRUE(figures && figures->cost);
    const auto noted = std::ranges::find(sweep.inputs, "accelerator", &Manifest::Input::what);
    EXPECT_NE(noted, sweep.inputs.end());
    return std::pair(figures->cost->ttft_s, noted->sha256);
  };
  const auto [few, few_hash] = seconds("1");
  const auto [many, many_hash] = seconds("64");
  EXPECT_GT(few, 1.5 * many);
  EXPECT_NE(few_hash, many_hash);
}

// Every division of the chips is a workload; the best row is what `pliant serve --chips` finds.
TEST_F(ServedSweep, EveryDivisionOfItsChipsIsAWorkload) {
  const std::string chip = file("npu_with_links.yaml");
  std::ofstream(chip) << std::ifstream(PLIANT_SOURCE_DIR "/configs/accelerators/npu.yaml").rdbuf()
                      << "links: {gb_per_s: 4, us: 1, pj_per_bit: 2}\n";
  const Sweep sweep = read("", "prompt: 64, output: 9, batch: 4, chips: 4", chip);
  std::vector<std::string> names;
  for (const Workload& workload : sweep.workloads) names.push_back(workload.name);
  const std::string start = "tiny_model_serve_64_9_batch4_";
  EXPECT_EQ(names, (std::vector<std::string>{start + "tp2_pp2", start + "tp4"}));  // two layers, no experts
  DesignSpace space(library(), std::make_shared<const Sweep>(sweep));
  const DesignPoint design = space.design(0);
  double best = 0;
  serving::Request request;
  for (const Workload& workload : sweep.workloads) {
    const auto figures = solve_serving(sweep, design, workload, {});
    ASSERT_TRUE(figures && figures->cost) << (figures ? figures->problem : "");
    best = std::max(best, figures->cost->tokens_per_s);
    request = served_request(sweep.served.at(workload.name), design, {});
    EXPECT_EQ(request.division.chips(), 4);
    const serving::Served served = serving::serve(request);
    EXPECT_EQ(figures->cost->tokens_per_s, served.tokens_per_s);
    EXPECT_EQ(figures->cost->tokens_per_j, served.tokens_per_j);
  }
  const serving::BestDivision all = serving::best_division(request, 4, {4}, {});
  ASSERT_TRUE(all.best);
  EXPECT_EQ(best, all.ways[*all.best].served->tokens_per_s);
  // Layers of the rows are a chip's part.
  EXPECT_LT(sweep.workloads[1].layers.front().layer.macs(),
            read("", "prompt: 64, output: 9, batch: 4").workloads[0].layers.front().layer.macs());
}

TEST_F(ServedSweep, DivisionsThatAreWrittenAreTaken) {
  const auto names = [&](const std::string& entry) {
    std::vector<std::string> all;
    for (const Workload& workload : read("", entry).workloads) all.push_back(workload.name);
    return all;
  };
  EXPECT_EQ(names("prompt: 64, output: 9, chips: 4, tp: 2"),
            (std::vector<std::string>{"tiny_model_serve_64_9_tp2_pp2"}));
  EXPECT_EQ(names("prompt: 64, output: 9, pp: 2"), (std::vector<std::string>{"tiny_model_serve_64_9_tp1_pp2"}));
  EXPECT_THROW(read("", "prompt: 64, chips: 7"), InputError);
  EXPECT_THROW(read("", "prompt: 64, tp: 3"), InputError);
  EXPECT_THROW(read("", "prompt: 64, ep: 2"), InputError);
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

TEST_F(ServedSweep, GoalsOfDesignSearchesNameItsFigures) {
  const Sweep sweep = read(
      "minimize: [area_um2, {column: tpot_s, workload: tiny_model_serve_64_9_batch4}]\n"
      "maximize: tokens_per_j\n");
  ASSERT_TRUE(sweep.goals);
  ASSERT_EQ(sweep.goals->minimize.size(), 3u);
  EXPECT_EQ(sweep.goals->minimize[1].workload, 1u);
  EXPECT_EQ(sweep.goals->minimize[2].measure, DesignMeasure::kTokensPerJ);
  EXPECT_EQ(column_value(DesignMeasure::kTokensPerJ, 0.25), 4);
  EXPECT_EQ(read("maximize: tokens_per_j\n").objectives, std::vector{Objective::kEnergy});
  EXPECT_EQ(read("minimize: ttft_s\n").objectives, std::vector{Objective::kRuntime});
  const auto problem = [&](const std::string& more) {
    try {
      read(more);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(problem("minimize: tokens_per_j\n").find("under `maximize`"), std::string::npos);
  EXPECT_NE(problem("maximize: ttft_s\n").find("under `minimize`"), std::string::npos);
  EXPECT_NE(problem("minimize: [area_um2, ttft_s]\nmaximize: [tokens_per_j, largest_batch]\n").find("4 goals"),
            std::string::npos);
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
  const auto with_alexnet = [&](const std::string& goal) {
    return parse_sweep_text(library(),
                            "pliant: sweep\nname: s\naccelerator: npu\nworkloads: [alexnet, {serve: " + file_ +
                                ", name: small}]\nminimize: " + goal + "\n",
                            "sweep.yaml");
  };
  EXPECT_THROW(with_alexnet("ttft_s"), InputError) << "alexnet has none";
  EXPECT_TRUE(with_alexnet("{column: ttft_s, workload: small}").goals);
}

}  // namespace
}  // namespace pliant
