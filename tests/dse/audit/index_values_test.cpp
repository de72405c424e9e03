// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/index_values.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace pliant::audit {
namespace {

Count listed(const std::vector<IndexTerm>& terms) {
  std::set<Count> values{0};
  for (const IndexTerm& term : terms) {
    std::set<Count> next;
    for (const Count value : values)
      for (Count i = 0; i < term.count; ++i) next.insert(value + i * term.step);
    values = std::move(next);
  }
  return static_cast<Count>(values.size());
}

TEST(IndexValues, AreThoseOfTheListedSums) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<IndexTerm> terms(random() % 5);
    Count box = 1;
    for (IndexTerm& term : terms) {
      term = {static_cast<Count>(1 + random() % (i % 2 == 0 ? 6 : 70)), static_cast<Count>(1 + random() % 7)};
      box += term.step * (term.count - 1);
    }
    const Count truth = listed(terms);
    ASSERT_EQ(fewest_values(terms), truth);
    ASSERT_EQ(most_values(terms), truth);
    ASSERT_EQ(box_of_values(terms), box);
  }
}

TEST(IndexValues, AreBoundedWhereTheyLieFarApart) {
  const std::vector<IndexTerm> terms{{1, 3}, {2, 3}, {1'000'000'007, 5}, {999'999'937, 4}};
  const Count truth = listed(terms);
  EXPECT_LE(fewest_values(terms), truth);
  EXPECT_GE(fewest_values(terms), 20);  // of the last two
  EXPECT_GE(most_values(terms), truth);
}

}  // namespace
}  // namespace pliant::audit
