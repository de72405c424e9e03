// SPDX-License-Identifier: Apache-2.0
// Choices of a round share an effort. One that used up its share is searched again with what the others left.
#include <gtest/gtest.h>

#include "dse/mappers/exact/search/prove.h"
#include "support/campaign_cases.h"

namespace pliant::exact {
namespace {

// An effort in the middle of those that suffice for this task if, and only if, such choices are searched again: from
// 0.82 of it on, and without a second search from 1.22 on (measured by leaving it out).
TEST(SearchAgain, ProvesWhatTheFirstShareDidNotLastFor) {
  constexpr std::uint64_t kSeed = 4661, kEffort = 5'900'000;
  const Task task = tests::campaign_task(kSeed);
  const Problem problem(task.layer, task.accelerator);
  const SearchResult half = prove(task, problem, {}, {}, kEffort / 2), whole = prove(task, problem, {}, {}, kEffort);
  EXPECT_FALSE(half.certified) << "the effort is no limit any more: take a smaller one";
  EXPECT_EQ(half.ended_by, EndedBy::kEffort);
  EXPECT_TRUE(whole.certified);
  const SearchResult truth = prove(task, problem, {}, {});
  EXPECT_TRUE(truth.certified);
  EXPECT_EQ(whole.value, truth.value);
  EXPECT_LE(half.lower_bound, truth.value);
}

}  // namespace
}  // namespace pliant::exact
