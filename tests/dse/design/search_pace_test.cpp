// SPDX-License-Identifier: Apache-2.0
#include "dse/design/search_pace.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pliant {
namespace {

TEST(SearchPace, TellsTheTimeLeftOfSharesThatGrowByTheSameFactor) {
  // From 1e-6 to 1 in 100 seconds.
  SearchPace pace;
  EXPECT_EQ(pace.seconds_left(), std::nullopt);
  for (int second = 0; second <= 60; ++second) pace.note(second, std::pow(1e6, second / 100.0 - 1));
  ASSERT_TRUE(pace.seconds_left());
  EXPECT_NEAR(*pace.seconds_left(), 40, 1e-6);
  pace.note(61, 1);
  EXPECT_EQ(pace.seconds_left(), 0);
}

TEST(SearchPace, TellsNothingWhileNothingIsDecided) {
  SearchPace pace;
  for (int second = 0; second <= 60; ++second) pace.note(second, 1e-4);
  EXPECT_EQ(pace.seconds_left(), std::nullopt);
}

}  // namespace
}  // namespace pliant
