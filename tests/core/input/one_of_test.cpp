// SPDX-License-Identifier: Apache-2.0
#include "core/input/one_of.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace pliant {
namespace {

TEST(OneOf, ShortListsAreWholeAndLongOnesShowTheNearestFive) {
  EXPECT_EQ(one_of("x", {"a", "b"}), "one of a, b");
  std::vector<std::string> many;
  for (int i = 0; i < 20; ++i) many.push_back("column_" + std::to_string(i));
  for (const char* name : {"energy_pj", "energy_mj", "area_um2"}) many.emplace_back(name);
  // Those that hold the word come first, then those that look like it.
  const std::string text = one_of("energy", many);
  EXPECT_TRUE(text.starts_with("one of 23, such as energy_pj, energy_mj, ")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), ','), 5) << text;
}

}  // namespace
}  // namespace pliant
