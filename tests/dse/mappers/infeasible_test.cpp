// SPDX-License-Identifier: Apache-2.0
// The limits named when nothing fits: together impossible, without any one of them possible.

#include <gtest/gtest.h>

#include "core/input/load.h"
#include "dse/mappers/infeasible.h"
#include "support/random_cases.h"

namespace pliant {
namespace {

Task toy() {
  Task task;
  task.layer = make_gemm("gemm", {.M = 8, .N = 8, .K = 8});
  Memory dram, buffer;
  buffer.capacity_words = 20;
  task.accelerator.name = "toy";
  task.accelerator.levels = {{"DRAM", dram}, {"GLB", buffer}, {"MAC", Compute{}}};
  task.flexibility.levels.resize(3);
  return task;
}

TEST(WhyNothingFits, NothingToSayWhenSomethingFits) { EXPECT_FALSE(why_nothing_fits(toy())); }

TEST(WhyNothingFits, CapacityAndFixedTile) {
  Task task = toy();
  task.flexibility.levels[1].tile.fixed = {{"M", 4}, {"N", 4}};  // 16 outputs + 4 + 4 words at least
  const auto why = why_nothing_fits(task);
  ASSERT_TRUE(why);
  ASSERT_EQ(why->conflict.size(), 2U);
  EXPECT_EQ(why->conflict[0].rule, "capacity");
  EXPECT_EQ(why->conflict[1].rule, "tile");
  ASSERT_EQ(why->nearest_miss.size(), 1U);
  EXPECT_EQ(why->nearest_miss[0].needed, 24);
  EXPECT_EQ(why->nearest_miss[0].available, 20);
}

TEST(WhyNothingFits, CapacityAlone) {
  Task task = toy();
  task.accelerator.levels[1].memory().capacity_words = 2;
  const auto why = why_nothing_fits(task);
  ASSERT_TRUE(why);
  ASSERT_EQ(why->conflict.size(), 1U);
  EXPECT_EQ(why->conflict[0].level, "GLB");
  EXPECT_EQ(why->nearest_miss[0].needed, 3);
}

TEST(WhyNothingFits, LoopsThatMustStandInsideOverflow) {
  Task task = toy();
  task.flexibility.levels[0].loops.dims = std::vector<std::string>{"M", "N"};  // all of K in the buffer: 8 + 8 + 1
  task.accelerator.levels[1].memory().capacity_words = 16;
  const auto why = why_nothing_fits(task);
  ASSERT_TRUE(why);
  ASSERT_EQ(why->conflict.size(), 2U);
  EXPECT_EQ(why->conflict[0].rule, "loops");
  EXPECT_EQ(why->conflict[1].rule, "capacity");
  EXPECT_EQ(why->nearest_miss[0].needed, 17);
}

TEST(WhyNothingFits, AgreesWithEnumeration) {
  const std::unique_ptr<Mapper> exhaustive = make_mapper("exhaustive");
  int infeasible = 0;
  for (std::uint64_t seed = 9000; seed < 9080; ++seed) {
    const tests::RandomCase random = tests::random_case(seed, {.most_mappings = 3'000, .infeasible_share = 0.7});
    const SearchResult truth = run_mapper(*exhaustive, random.task, {});
    const auto why = why_nothing_fits(random.task);
    ASSERT_EQ(why.has_value(), truth.infeasible) << random.text;
    if (!why) continue;
    ++infeasible;
    EXPECT_FALSE(why->conflict.empty()) << random.text;
  }
  EXPECT_GE(infeasible, 5);
}

}  // namespace
}  // namespace pliant
