// SPDX-License-Identifier: Apache-2.0
#include "costmodel/physical.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

TEST(Physical, NothingWithoutAClock) {
  EXPECT_FALSE(physical(std::nullopt, 1, 1, 1));
  EXPECT_FALSE(peak_tops(std::nullopt, 1));
}

TEST(Physical, UnitsByHand) {
  // 2e9 cycles at 1 GHz are 2 s; 3e12 pJ are 3 J, 3000 mJ, 1.5 W; 4e12 MACs are 8e12 operations, 4 TOPS.
  const auto p = physical(1e9, 3e12, 2e9, 4e12);
  ASSERT_TRUE(p);
  EXPECT_DOUBLE_EQ(p->latency_s, 2);
  EXPECT_DOUBLE_EQ(p->energy_mj, 3000);
  EXPECT_DOUBLE_EQ(p->power_w, 1.5);
  EXPECT_DOUBLE_EQ(p->tops, 4);
  EXPECT_DOUBLE_EQ(p->tops_per_w, p->tops / p->power_w);
  EXPECT_DOUBLE_EQ(gigabytes_per_second(16e9, 2), 1);
}

TEST(Physical, PeaksOfPublishedChips) {
  EXPECT_NEAR(*peak_tops(700e6, 65536), 92, 0.5);     // TPUv1: 256 x 256 at 700 MHz, "92 TOPS"
  EXPECT_NEAR(*peak_tops(200e6, 168), 0.0672, 1e-9);  // Eyeriss: 168 PEs at 200 MHz, 33.6 GMACS
}

}  // namespace
}  // namespace pliant
