// SPDX-License-Identifier: Apache-2.0
// A limited effort is dealt out in turns: what a turn may use, and when it ends.
#include "dse/mappers/exact/search/effort_turns.h"

#include <gtest/gtest.h>

namespace pliant::exact {
namespace {

TEST(EffortTurns, ATurnLastsUntilItsShareOfAllIsUsed) {
  SearchLimits limits{SearchOptions{}};
  EffortTurns turns(limits, 1000);
  turns.begin(0.8);
  EXPECT_EQ(turns.left(1), 800u);
  EXPECT_EQ(turns.left(0.5), 400u);
  limits.effort += 500;
  EXPECT_EQ(turns.left(1), 300u);
  EXPECT_EQ(turns.left(0.5), 0u);
  // The next turn deals out what is left.
  turns.begin(0.8);
  EXPECT_EQ(turns.left(0.5), 150u);
  EXPECT_FALSE(turns.ends_within(0.3));
  EXPECT_TRUE(turns.ends_within(0.31));
  limits.effort += 400;
  EXPECT_EQ(turns.left(1), 0u);
  turns.begin(0.8);
  EXPECT_EQ(turns.left(1), 0u) << "more is used than the turn may";
  turns.begin(1);
  EXPECT_EQ(turns.left(1), 100u);
}

TEST(EffortTurns, ALimitOfItsOwnBeginsHere) {
  SearchLimits limits{SearchOptions{}};
  const EffortTurns whole(limits, 0);
  limits.effort = 5000;
  EffortTurns turns = whole.from_here(1000);
  turns.begin(0.5);
  EXPECT_EQ(turns.left(1), 500u);
  limits.effort = 5400;
  EXPECT_EQ(turns.left(1), 100u);
  turns.begin(1);
  EXPECT_EQ(turns.left(1), 600u);
}

TEST(EffortTurns, WithoutALimitNoTurnEnds) {
  SearchLimits limits{SearchOptions{}};
  EffortTurns turns(limits, 0);
  turns.begin(0.8);
  limits.effort += 1'000'000'000'000;
  EXPECT_EQ(turns.left(0.1), EffortTurns::kNoLimit);
  EXPECT_FALSE(turns.ends_within(1));
}

}  // namespace
}  // namespace pliant::exact
