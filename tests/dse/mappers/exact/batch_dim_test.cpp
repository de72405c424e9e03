// SPDX-License-Identifier: Apache-2.0
// Dims whose iterations have nothing in common: of their factors the fastest is enough (docs/dev/proof, L9).
#include "dse/mappers/exact/choices/batch_dim.h"

#include <gtest/gtest.h>

#include "dse/mappers/exact/truth_by_choice.h"

namespace pliant::exact {
namespace {

const std::string kFourUnits = "  - {fanout: PEs, cols: 4}\n";
std::string sram(int words) {
  return "  - {memory: SRAM, capacity: " + std::to_string(words) + " words, read_pj: 2, write_pj: 2}\n";
}

struct Design {
  std::string dram = "", units = kFourUnits, registers = "3 words", rules = "";
};

/// Channels that have nothing in common, each with windows along P.
Task depthwise(const Design& design, Factorization factorization, const std::string& dims = "C: 3, P: 2, R: 2") {
  Task task = task_of(
      "word_bits: 8\nlevels:\n"
      "  - {memory: DRAM, capacity: unbounded, read_pj: 8, write_pj: 8" +
          design.dram + "}\n" + design.units + "  - {memory: Reg, capacity: " + design.registers +
          ", read_pj: 1, write_pj: 1}\n"
          "  - {compute: MAC, mac_pj: 1}\n" +
          design.rules,
      "  dims: {" + dims +
          "}\n  tensors:\n"
          "    - {name: I, role: inputs, projection: [C, P + R]}\n"
          "    - {name: W, role: weights, projection: [C, R]}\n"
          "    - {name: O, role: outputs, projection: [C, P]}\n");
  task.factorization = factorization;
  return task;
}

std::optional<BatchDim> batch_dim_of(const Task& task) {
  const Problem problem(task.layer, task.accelerator);
  return find_batch_dim(task, problem,
                        MapSpaceRules(task.layer, task.accelerator, task.flexibility, task.factorization));
}

TEST(BatchDim, EveryTensorUsesItAndNoWindowSlidesAlongIt) {
  for (const Factorization rule : {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRuby}) {
    const std::optional<BatchDim> batch = batch_dim_of(depthwise({}, rule));
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->dim, 0);
    EXPECT_EQ(batch->fits, 3);
  }
  EXPECT_FALSE(batch_dim_of(depthwise({}, Factorization::kRubyT)));
  EXPECT_FALSE(batch_dim_of(depthwise({}, Factorization::kRubyS, "C: 1, P: 2, R: 2")));
}

// All outputs Q + S with one Q are different, but units that S is spread over finish none of them.
TEST(BatchDim, SumsDoNotRunAlongIt) {
  Task task = task_of(
      "levels:\n"
      "  - {memory: DRAM, capacity: unbounded, read_pj: 1, write_pj: 1}\n" +
          kFourUnits +
          "  - {memory: Reg, capacity: 3 words, read_pj: 1, write_pj: 1}\n"
          "  - {compute: MAC, mac_pj: 1}\n",
      "  dims: {Q: 1, S: 2}\n  tensors:\n"
      "    - {name: W, role: weights, projection: [S]}\n"
      "    - {name: O, role: outputs, projection: [Q + S]}\n");
  for (const Factorization rule : {Factorization::kPerfect, Factorization::kRubyS}) {
    task.factorization = rule;
    EXPECT_FALSE(batch_dim_of(task));
  }
}

// A channel has 3 inputs, 2 weights and 2 outputs.
TEST(BatchDim, FitsAsOftenAsMemoriesOutsideTheUnitsHoldAllOfIt) {
  for (const int words : {6, 7, 13, 14, 20, 21, 22})
    EXPECT_EQ(batch_dim_of(depthwise({.units = sram(words) + kFourUnits}, Factorization::kRubyS))->fits, words / 7);
}

// Whatever could tell its factors apart.
TEST(BatchDim, IsNotFoundWhereItsFactorsDiffer) {
  const std::vector<Design> designs{{.rules = "flexibility:\n  tiles: {Reg: {fixed: {C: 1}}}\n"},
                                    {.rules = "flexibility:\n  orders: {DRAM: [[C, P, R]]}\n"},
                                    {.rules = "hints: {min_utilization: 0.5}\n"},
                                    {.rules = "conventions: quickflow\n"},
                                    {.rules = "conventions: timeloop\n"},
                                    {.rules = "conventions: {drain: parent-writes}\n"},
                                    {.units = "  - {fanout: Rows, rows: 2}\n  - {fanout: Cols, cols: 2}\n"},
                                    {.registers = "3 words, bandwidth: 1 B/cycle"}};
  for (const Design& design : designs)
    EXPECT_FALSE(batch_dim_of(depthwise(design, Factorization::kRubyS))) << design.rules << design.units;
}

TEST(Lemma, FactorsOfABatchDimThatAreNotListed) {
  int left_out = 0;
  for (const Factorization rule : {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRuby})
    for (const char* dims : {"C: 3, P: 2, R: 2", "C: 4, P: 2, R: 1", "C: 5, P: 3, R: 1", "C: 6, P: 1, R: 2"})
      for (const char* port : {"", ", bandwidth: 1 B/cycle"})
        for (const std::string& units :
             {kFourUnits, std::string("  - {fanout: PEs, rows: 2, cols: 3}\n"), sram(4) + kFourUnits,
              sram(9) + kFourUnits, sram(14) + kFourUnits,
              std::string("  - {fanout: PEs, cols: 3, multicast: false, reduction: false}\n")})
          for (const char* registers : {"3 words", "5 words"}) {
            const Truth truth(depthwise({.dram = port, .units = units, .registers = registers}, rule, dims));
            if (!truth.complete) continue;
            ASSERT_TRUE(batch_dim_of(truth.task));
            left_out += expect_others_do_as_well(truth);
          }
  EXPECT_GT(left_out, 500);
}

}  // namespace
}  // namespace pliant::exact
