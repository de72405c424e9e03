// SPDX-License-Identifier: Apache-2.0
#include "core/mapping.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

Accelerator toy() {
  Accelerator accelerator;
  accelerator.levels = {{"DRAM", Memory{}},
                        {"GLB", Memory{.capacity_words = 4096}},
                        {"Array", Fanout{.rows = 2, .cols = 6}},
                        {"RF", Memory{.capacity_words = 32, .may_keep = {false, true, true}}},
                        {"MAC", Compute{}}};
  return accelerator;
}

TEST(Accelerator, CountsUnitsAndInstances) {
  const Accelerator accelerator = toy();
  EXPECT_EQ(accelerator.find_level("RF"), 3);
  EXPECT_EQ(accelerator.find_level("L2"), -1);
  EXPECT_EQ(accelerator.macs_units(), 12);
  EXPECT_EQ(accelerator.instances(1), 1);
  EXPECT_EQ(accelerator.instances(3), 12);
}

TEST(Accelerator, FlexibilityMayDependOnTheFamily) {
  Accelerator accelerator = toy();
  accelerator.flexibility.name = "all";
  accelerator.flexibility_for[Operation::kGemm].name = "gemm only";
  EXPECT_EQ(accelerator.flexibility_of(make_gemm("g", {})).name, "gemm only");
  EXPECT_EQ(accelerator.flexibility_of(make_conv("c", {})).name, "all");
}

TEST(Mapping, EmptyMappingKeepsWhatMayBeKept) {
  const Mapping mapping = empty_mapping(make_gemm("g", {}), toy());
  ASSERT_EQ(mapping.levels.size(), 5u);
  EXPECT_EQ(mapping.levels[0].keeps, 7u);
  EXPECT_EQ(mapping.levels[2].keeps, 0u);
  EXPECT_EQ(mapping.levels[3].keeps, 6u);
}

TEST(Mapping, FactorizationNames) {
  for (const auto rule : {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRubyT, Factorization::kRuby,
                          Factorization::kPadding})
    EXPECT_EQ(parse_factorization(to_string(rule)), rule);
  EXPECT_FALSE(parse_factorization("perfect-ish").has_value());
}

TEST(Mapping, LoopNestShowsTilesAndRemainders) {
  const Layer layer = make_gemm("g", {.M = 100, .N = 4, .K = 3});
  Mapping mapping = empty_mapping(layer, toy());
  mapping.levels[0].temporal = {{0, 17}};
  mapping.levels[1].temporal = {{1, 2}};
  mapping.levels[2].spatial = {{1, 2, Side::kRows}, {0, 6, Side::kCols}};
  mapping.levels[3].temporal = {{2, 3}};
  EXPECT_EQ(to_loop_nest(layer, toy(), mapping),
            "DRAM [Inputs 300, Weights 12, Outputs 400]\n"
            "for m in [0:17)\n"
            "  GLB [Inputs 18, Weights 12, Outputs 24]  54 of 4096 words\n"
            "  for n in [0:2)\n"
            "    Array 2x6\n"
            "    parallel-for n in [0:2) over rows\n"
            "      parallel-for m in [0:6) over columns  (last: [0:4))\n"
            "        RF [Weights 3, Outputs 1]  4 of 32 words\n"
            "        for k in [0:3)\n"
            "          MAC: Outputs[m, n] += Inputs[m, k] * Weights[k, n]\n");
}

}  // namespace
}  // namespace pliant
