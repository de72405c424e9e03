// SPDX-License-Identifier: Apache-2.0
// Fused groups that can be counted by hand, two of them from public tools.
#include <gtest/gtest.h>

#include "core/input/load.h"
#include "costmodel/report.h"
#include "dse/mappers/fusion/fusion.h"
#include "support/file_text.h"
#include "support/fused_cases.h"

namespace pliant {
namespace {

/// A search and what it found, which refers to it.
struct Fused {
  Fused(const Workload& workload, const std::vector<Task>& rows, const NetworkGoal& goal)
      : search(*exact, workload, rows, options), best(search.run(goal)) {}
  std::unique_ptr<Mapper> exact = make_mapper("exact");
  SearchOptions options;
  fusion::Search search;
  fusion::Optimum best;
};

/// Words that pass a memory: of runs, of what moves between them, and of operators at their tiles' home.
double words_at(const fusion::Optimum& best, std::size_t level) {
  double words = 0;
  for (const fusion::GroupChoice& group : best.groups) {
    for (const fusion::RunChoice& run : group.runs) {
      const CostReport report = price(run.task.layer, run.task.accelerator, run.mapping);
      if (!report.levels[level].memory) continue;
      for (const TensorCost& tensor : report.levels[level].tensors)
        words += run.times * (tensor.words_read + tensor.words_written);
    }
    for (const fusion::LayerChoice* layer : group.plan.layers)
      for (const fusion::LayerChoice::Move& move : layer->moves)
        if (const auto at = move.words.find(static_cast<int>(level)); at != move.words.end())
          words += at->second.read + at->second.written;
  }
  return words;
}

std::vector<Task> rows_on(const Workload& workload, const std::string& machine) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  return tests::tasks_of(workload, parse_accelerator_text(library, machine, "machine.yaml"));
}

std::string data(const std::string& file) { return text_of(PLIANT_SOURCE_DIR "/tests/data/" + file); }

/// A block of GPT-3 175B, 2048 tokens, on AccelForge's TPU v4i: no worse than what that tool reports with tiles.
TEST(FusedExamples, ABlockOfGpt3OnATpu) {
  const Workload block = parse_workload_text(data("gpt3_175b_block.yaml"), "gpt3_175b_block.yaml");
  const std::vector<Task> rows = rows_on(block, data("tpu_v4i_16bit.yaml"));
  const Fused found(block, rows, {Objective::kEdp});
  ASSERT_TRUE(found.best.certified);
  EXPECT_LE(found.best.energy_pj, 1.175130027562791e12);
  EXPECT_LE(found.best.cycles / *rows.front().accelerator.clock_hz, 0.056330591440200806);
  EXPECT_GE(found.best.groups.size(), 1U);
}

/// LoopTree's two matrix products, rows one by one: 18 + 8 + 32 + 72 = 130 words cross the border of the chip, each
/// once; 40 of the weights stay, 2 and 8 of a row's inputs and results are beside them, 4 between the layers; a round
/// takes as many cycles as the two sums are long, 2 + 4, and there are nine.
TEST(FusedExamples, TwoProductsOfLoopTree) {
  const Workload chain = tests::gemm_chain({9, 2, 4, 8});
  const std::vector<Task> rows = rows_on(chain, R"(pliant: accelerator
name: looptree
word_bits: 8
conventions: physical
levels:
  - {memory: Main, capacity: unbounded, read_pj: 800, write_pj: 800}
  - {memory: Buffer, capacity: 54, read_pj: 8, write_pj: 8}
  - {fanout: Units, rows: 1, cols: 8}
  - {compute: MAC, mac_pj: 1}
flexibility:
  parallel: {Units: {cols: [N]}}
)");
  const Fused found(chain, rows, {Objective::kEdp});
  const fusion::Optimum& best = found.best;
  ASSERT_TRUE(best.certified);
  ASSERT_EQ(best.groups.size(), 1U);
  const fusion::GroupChoice& group = best.groups.front();
  EXPECT_EQ(words_at(best, 0), 130);
  EXPECT_EQ(best.cycles, 54);
  ASSERT_EQ(group.plan.stacks.front().size(), 1U);
  EXPECT_EQ(group.setting.chain->trips(group.plan.stacks.front().front()), 9);
  EXPECT_EQ(group.plan.tile_words, (std::vector<Count>{44, 44}));  // weights and a tile of four
  // LoopTree gives every tensor a place of its own: 50 words for all but the tensor between the layers, 4 for that.
  Count beside = 0, between = 0;
  ASSERT_EQ(group.runs.size(), 2U);
  for (const fusion::RunChoice& run : group.runs)
    for (int x = 0; x < 3; ++x) {
      const Layer& layer = run.task.layer;
      const bool is_tile =
          run.layer == 0 ? x == layer.output() : layer.tensors[static_cast<std::size_t>(x)].role == Role::kInput;
      if (!is_tile) beside += layer.tensor_words(x);
      if (is_tile && run.layer == 0) between = layer.tensor_words(x);
    }
  EXPECT_EQ(beside, 50);
  EXPECT_EQ(between, 4);
}

/// Attention of BERT at 1024 tokens on a chip with FuseMax's buffer, 64 sequences of 12 heads, 16 bits: queries, keys,
/// values and results cross the border once, 4 * 64 * 12 * 1024 * 64 * 2 = 402,653,184 bytes. Scores that go outside
/// pass four times: made, read and written by the softmax, read: 4 * 64 * 12 * 1024 * 1024 * 2 bytes more.
TEST(FusedExamples, AttentionOfFuseMax) {
  const Workload attention = parse_workload_text(R"(name: attention
layers:
  - {layer: score, count: 768, gemm: {M: 1024, N: 1024, K: 64}}
  - {layer: context, count: 768, gemm: {M: 1024, N: 64, K: 1024}}
graph:
  - {layer: score, count: 768}
  - {op: softmax, name: weights, online: true, from: score}
  - {layer: context, count: 768, from: weights}
)",
                                                 "attention.yaml");
  const std::vector<Task> rows = rows_on(attention, R"(pliant: accelerator
name: fusemax
word_bits: 16
conventions: physical
levels:
  - {memory: Main, capacity: unbounded, read_pj: 1000, write_pj: 1000}
  - {memory: Buffer, capacity: 16MiB, read_pj: 2, write_pj: 2}
  - {fanout: Units, rows: 256, cols: 256}
  - {compute: MAC, mac_pj: 0.1}
flexibility:
  parallel: {Units: {rows: [M], cols: [N]}}
)");
  const Fused found(attention, rows, {Objective::kEnergy});
  const fusion::Optimum& best = found.best;
  ASSERT_TRUE(best.certified);
  ASSERT_EQ(best.groups.size(), 1U);
  EXPECT_EQ(2 * words_at(best, 0), 402'653'184);
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  const SearchOptions options;
  residency::Search whole(*exact, attention, rows, options);
  const residency::Optimum outside = whole.run({Objective::kEnergy}, false);
  double words = 4.0 * 64 * 12 * 1024 * 1024 / 2;  // of the softmax
  for (const residency::StepChoice& step : outside.steps)
    for (const residency::StepPart& part : step.parts) {
      const Task& task = whole.task(step.variant);
      const CostReport report = price(task.layer, task.accelerator, part.mapping);
      for (const TensorCost& tensor : report.levels[0].tensors)
        words += static_cast<double>(part.count) * (tensor.words_read + tensor.words_written);
    }
  EXPECT_EQ(2 * words, 6'845'104'128);
}

/// Four query heads that read one head of keys and values, 64 x 64 scores each, all of it in 8 bits. Keys and values of
/// a group stay while its four heads pass: 2 * 64 * 16 words once for a group, queries and results once for a head.
TEST(FusedExamples, GroupedQueriesLoadKeysAndValuesOnce) {
  const Workload attention = parse_workload_text(R"(name: grouped
layers:
  - {layer: kv, count: 2, gemm: {M: 64, N: 32, K: 16}}
  - {layer: score, count: 8, gemm: {M: 64, N: 64, K: 16}}
  - {layer: context, count: 8, gemm: {M: 64, N: 16, K: 64}}
graph:
  - {layer: kv, name: k}
  - {layer: kv, name: v}
  - {op: output, name: k_cache, from: k}
  - {op: output, name: v_cache, from: v}
  - {layer: score, count: 8, from: {Weights: k}}
  - {op: softmax, name: weights, online: true, from: score}
  - {layer: context, count: 8, from: {Inputs: weights, Weights: v}}
)",
                                                 "grouped.yaml");
  // Too small for k or v whole (2048 words) beside keys and values of a group, or for the scores of a head (4096).
  const std::vector<Task> rows = tests::tasks_of(attention, tests::two_memories(3000));
  const Fused found(attention, rows, {Objective::kEnergy});
  const fusion::Optimum& best = found.best;
  ASSERT_TRUE(best.certified);
  ASSERT_EQ(best.groups.size(), 1U);
  const fusion::GroupChoice& group = best.groups.front();
  EXPECT_EQ(group.setting.chain->axes[static_cast<std::size_t>(group.setting.chain->groups)].size, 2);
  EXPECT_EQ(group.setting.chain->axes[static_cast<std::size_t>(group.setting.chain->heads)].size, 4);
  EXPECT_EQ(words_at(best, 0), 2 * (2 * 64 * 16) + 8 * (2 * 64 * 16));
}

}  // namespace
}  // namespace pliant
