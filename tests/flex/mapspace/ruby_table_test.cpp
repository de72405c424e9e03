// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/ruby_table.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace pliant {
namespace {

constexpr std::array<Count, 5> kSizes{3, 64, 100, 1000, 4096};

using Counting = BigCount (*)(Count, Factorization);

void expect_row(Counting counting, Factorization rule, const std::vector<Count>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(counting(kSizes[i], rule), expected[i]) << to_string(rule) << " of " << kSizes[i];
}

TEST(RubyTable, AsPublished) {
  expect_row(ruby_table_as_published, Factorization::kPerfect, {3, 22, 24, 52, 43});
  expect_row(ruby_table_as_published, Factorization::kRubyS, {7, 50, 61, 117, 83});
  // The paper prints 2392 and 10040 (Ruby-T), 5713 and 30612 (Ruby) at the two largest sizes; no rule gives them.
  expect_row(ruby_table_as_published, Factorization::kRubyT, {7, 157, 247, 2494, 10131});
  expect_row(ruby_table_as_published, Factorization::kRuby, {11, 414, 690, 9100, 42974});
}

TEST(RubyTable, EachMappingOnce) {
  expect_row(ruby_table_distinct, Factorization::kPerfect, {3, 22, 24, 52, 46});
  expect_row(ruby_table_distinct, Factorization::kRubyS, {4, 42, 57, 119, 96});
  expect_row(ruby_table_distinct, Factorization::kRubyT, {5, 157, 247, 2492, 10131});
  expect_row(ruby_table_distinct, Factorization::kRuby, {6, 337, 573, 8053, 38803});
  expect_row(ruby_table_distinct_within_pes, Factorization::kRuby, {6, 232, 366, 3711, 15223});
}

}  // namespace
}  // namespace pliant
