// SPDX-License-Identifier: Apache-2.0
// Choices of a round share an effort. One that used up its share is searched again with what the others left.
#include <gtest/gtest.h>

#include "dse/mappers/exact/search/prove.h"
#include "support/campaign_cases.h"

namespace pliant::exact {
namespace {

// Efforts in the middle of those that suffice for these tasks if, and only if, such choices are searched again: from
// 0.72 to 0.88 of them on, and without a second search from 1.15 to 1.4 on (measured by leaving it out).
TEST(SearchAgain, ProvesWhatTheFirstShareDidNotLastFor) {
  const std::pair<std::uint64_t, std::uint64_t> cases[] = {{2314, 5'300'000}, {641, 5'700'000}, {643, 11'800'000}};
  for (const auto& [seed, effort] : cases) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Task task = tests::campaign_task(seed);
    const Problem problem(task.layer, task.accelerator);
    const SearchResult half = prove(task, problem, {}, {}, effort / 2), whole = prove(task, problem, {}, {}, effort);
    EXPECT_FALSE(half.certified) << "the effort is no limit any more: take a smaller one";
    EXPECT_EQ(half.ended_by, EndedBy::kEffort);
    EXPECT_TRUE(whole.certified);
    const SearchResult truth = prove(task, problem, {}, {});
    EXPECT_TRUE(truth.certified);
    EXPECT_EQ(whole.value, truth.value);
    EXPECT_LE(half.lower_bound, truth.value);
  }
}

}  // namespace
}  // namespace pliant::exact
