// SPDX-License-Identifier: Apache-2.0
#include "core/affine.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>
#include <vector>

namespace pliant {
namespace {

std::set<Count> values(const std::vector<Stride>& strides) {
  std::set<Count> all{0};
  for (const Stride& loop : strides) {
    std::set<Count> next;
    for (const Count value : all)
      for (Count i = 0; i < loop.count; ++i) next.insert(value + i * loop.stride);
    all = std::move(next);
  }
  return all;
}

TEST(Affine, TwoStridesMatchEnumerationForAllSmallSizes) {
  for (Count m = 1; m <= 9; ++m)
    for (Count n = 1; n <= 9; ++n)
      for (Count A = 1; A <= 13; ++A)
        for (Count B = 1; B <= 13; ++B) {
          std::vector<bool> seen(static_cast<std::size_t>(m * A + n * B), false);
          Count distinct = 0;
          for (Count a = 0; a < A; ++a)
            for (Count b = 0; b < B; ++b) {
              const auto value = static_cast<std::size_t>(m * a + n * b);
              if (!seen[value]) ++distinct;
              seen[value] = true;
            }
          ASSERT_EQ(distinct_values(m, A, n, B), distinct) << m << "*" << A << " + " << n << "*" << B;
        }
}

TEST(Affine, PlainConvolutionWindow) {
  EXPECT_EQ(distinct_values(1, 56, 1, 3), 58);
  EXPECT_EQ(distinct_values(2, 112, 1, 7), 229);
  EXPECT_EQ(distinct_values(2, 10, 1, 1), 10);  // a pointwise filter with stride 2 skips every other value
  EXPECT_EQ(distinct_values(4, 10, 2, 3), distinct_values(2, 10, 1, 3));
}

TEST(Affine, ManyStridesMatchEnumeration) {
  std::mt19937 random(7);
  const auto draw = [&random](int low, int high) {
    return static_cast<Count>(std::uniform_int_distribution<int>(low, high)(random));
  };
  for (int trial = 0; trial < 4000; ++trial) {
    std::vector<Stride> strides(static_cast<std::size_t>(draw(3, 5)));
    for (Stride& loop : strides) loop = {draw(1, 14), draw(1, trial % 4 == 0 ? 30 : 6)};
    const std::set<Count> all = values(strides);
    ASSERT_EQ(distinct_values(strides), static_cast<Count>(all.size())) << "trial " << trial;
    ASSERT_EQ(bounding_extent(strides), *all.rbegin() + 1) << "trial " << trial;
  }
}

TEST(Affine, OneVeryLongLoopAmongThree) {
  // Every residue of 7 is reached by 2a + 3b, so the long loop leaves no holes but at the two ends.
  const std::vector<Stride> small{{2, 4}, {3, 4}, {7, 1000}}, large{{2, 4}, {3, 4}, {7, 100'000'000'000}};
  EXPECT_EQ(distinct_values(small), static_cast<Count>(values(small).size()));
  EXPECT_EQ(distinct_values(large), distinct_values(small) + 7 * (100'000'000'000 - 1000));
}

TEST(Affine, LongLoopsStayExact) {
  const std::vector<Stride> strides{{6, 100'000}, {10, 100'000}, {15, 100'000}};
  // The values are the semigroup of 6, 10, 15 and its mirror image: 1..5, 7..9, 11, 13, 14, 17, 19, 23, 29 are missing.
  EXPECT_EQ(distinct_values(strides), (6 + 10 + 15) * Count{99'999} + 1 - 2 * 15);
}

TEST(Affine, SizesBeyondTheRangeSaturate) {
  const Count huge = std::numeric_limits<Count>::max();
  EXPECT_EQ(distinct_values(huge, 1000, 1, 1000), 1'000'000);
  EXPECT_EQ(distinct_values(1, huge, 1, huge), huge);
  const std::vector<Stride> strides{{huge, huge}, {1, huge}};
  EXPECT_EQ(bounding_extent(strides), huge);
}

TEST(Affine, NoLoopIsOneValue) {
  EXPECT_EQ(distinct_values(std::span<const Stride>{}), 1);
  EXPECT_EQ(bounding_extent({}), 1);
}

}  // namespace
}  // namespace pliant
