// SPDX-License-Identifier: Apache-2.0
// Begun with any legal mapping, the best or another, and content with a gap or not: what a search finds and proves
// holds against the enumeration.
#include "dse/design/bound_mapper.h"

#include <gtest/gtest.h>

#include "support/random_cases.h"

namespace pliant {
namespace {

TEST(BoundMapper, ProvesTheSameFromAnyStart) {
  const auto exact = make_mapper("exact");
  int compared = 0, within = 0, better = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    using enum Factorization;
    const tests::RandomCase random =
        tests::random_case(seed, {.factorizations = {kPerfect, kPerfect, kRubyS, kPadding}});
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + random.text);
    const SearchResult truth = make_mapper("exhaustive")->search(random.task, {});
    SearchOptions draws;
    draws.budget.evaluations = 20;
    const SearchResult other = make_mapper("random")->search(random.task, draws);
    if (!truth.mapping || !other.mapping) continue;
    for (const Mapping& start : {*truth.mapping, *other.mapping}) {
      for (const double gap : {0.0, 0.1, 0.4}) {
        TaskResult known;
        known.mapping = start;
        const std::optional<BoundSearch> bound = BoundSearch{gap, std::make_shared<const TaskResult>(known)};
        const SearchResult found = BoundMapper(*exact, bound).search(random.task, {});
        ASSERT_TRUE(found.mapping);
        EXPECT_LE(found.lower_bound, truth.value * (1 + 1e-9));
        EXPECT_GE(found.value, truth.value * (1 - 1e-9));
        if (!proven(found)) continue;
        EXPECT_GE(found.lower_bound, found.value * (1 - gap) * (1 - 1e-9));
        if (found.certified) {
          EXPECT_NEAR(found.value / truth.value, 1, 1e-9);
        } else {
          ++within;
        }
        better += other.value > found.value * (1 + 1e-9);
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 150);
  EXPECT_GE(within, 5);
  EXPECT_GE(better, 20);
}

}  // namespace
}  // namespace pliant
