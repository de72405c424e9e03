// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/proven_lines.h"

#include <gtest/gtest.h>

namespace pliant::audit {
namespace {

TEST(KnownLines, AreAboveEveryChord) {
  KnownLines lines;
  lines.fewest = 1;
  lines.raise(0, 10);
  lines.raise(1, 11);  // less than its neighbours say together: a search that ended at a gap
  lines.raise(2, 20);
  EXPECT_EQ(lines.at(1), 15);
  EXPECT_EQ(lines.at(0.5), 12.5);
  EXPECT_EQ(lines.at(2), 20);
  EXPECT_EQ(lines.at(5), 23);  // by the fewest cycles beyond
  lines.raise(1, 18);
  EXPECT_EQ(lines.at(1), 18);
}

}  // namespace
}  // namespace pliant::audit
