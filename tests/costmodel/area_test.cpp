// SPDX-License-Identifier: Apache-2.0
#include "costmodel/area.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/flexibility_class.h"
#include "core/input/load.h"

namespace pliant {
namespace {

class AreaTest : public ::testing::Test {
 protected:
  Accelerator flexref(const std::vector<Setting>& settings = {}) const {
    return load_accelerator(library_, "flexref", settings);
  }
  double of_class(const char* name, const std::vector<Setting>& settings = {}) const {
    return area_um2(apply_class(flexref(settings), *parse_flexibility_class(name))).total();
  }
  const Library library_{PLIANT_SOURCE_DIR "/configs"};
};

TEST_F(AreaTest, ReferencePointOfThePaper) {
  // Table 3 of the flexibility paper, 15 nm. T is printed as 763,874; its +0.004 % fits 736,874.
  EXPECT_NEAR(of_class("InFlex-0000"), 736843, 0.5);
  EXPECT_NEAR(of_class("1000"), 736874, 0.5);
  EXPECT_NEAR(of_class("0100"), 738458, 0.5);
  EXPECT_NEAR(of_class("0010"), 737720, 0.5);
  EXPECT_NEAR(of_class("0001"), 737055, 0.5);
  // Overheads add up to 739,578; the paper prints 739,576 (five rounded values) and half of that overhead, 738,209.
  EXPECT_NEAR(of_class("1111"), 739578, 0.5);
  EXPECT_NEAR(of_class("1111"), 739576, 2.5);
  EXPECT_NEAR(of_class("PartFlex-1111"), 736843 + 0.5 * (31 + 1615 + 877 + 212), 0.5);
  EXPECT_NEAR(of_class("PartFlex-1111"), 738209, 2);
}

TEST_F(AreaTest, ComponentsAddUp) {
  const Area area = area_um2(flexref());
  ASSERT_EQ(area.levels.size(), 5);
  EXPECT_EQ(area.levels[0], 0);              // DRAM is not on the chip
  EXPECT_NEAR(area.levels[1], 172060, 0.5);  // Buffer
  EXPECT_EQ(area.levels[4], 1024 * 512);     // PEs
  EXPECT_EQ(area.base, 40495);
  EXPECT_EQ(area.flexibility, (std::array<double, 4>{31, 1615, 877, 212}));
}

TEST_F(AreaTest, FlexibilityGrowsWithWhatItControls) {
  // 4096 PEs instead of 1024: the shape overhead with the PEs, the network with PEs * log2(PEs).
  const Area large = area_um2(flexref({{"rows", "64"}}));
  EXPECT_EQ(large.levels[4], 4096 * 512);
  EXPECT_DOUBLE_EQ(large.flexibility[0], 31);
  EXPECT_DOUBLE_EQ(large.flexibility[1], 1615);
  EXPECT_DOUBLE_EQ(large.flexibility[2], 877 * (4096 * 12.0) / (1024 * 10.0));
  EXPECT_DOUBLE_EQ(large.flexibility[3], 212 * 4.0);
  // A buffer four times as large needs two more address bits (17 + 2 for the latch before).
  const Area deep = area_um2(flexref({{"Buffer.capacity", "400KiB"}}));
  EXPECT_DOUBLE_EQ(deep.flexibility[0], 31 * (19.0 + 2) / (17.0 + 2));
  EXPECT_DOUBLE_EQ(deep.flexibility[2], 877);
  EXPECT_GT(deep.levels[1], 3 * 172060);
  // A figure given by the setting itself is about the design it makes.
  const Area own = area_um2(flexref({{"rows", "64"}, {"area.flexibility_um2.S", "500"}}));
  EXPECT_DOUBLE_EQ(own.flexibility[3], 500);
  EXPECT_DOUBLE_EQ(own.flexibility[2], 877 * (4096 * 12.0) / (1024 * 10.0));
}

TEST_F(AreaTest, GrowthOfAChain) {
  const std::array<double, 4> growth = flexibility_growth(flexref());
  EXPECT_EQ(growth, (std::array<double, 4>{17 + 2, 2, 1024 * 10, 1024}));
}

TEST(OverheadShare, HalfWhenPartial) {
  EXPECT_EQ(overhead_share(Freedom::kFixed), 0);
  EXPECT_EQ(overhead_share(Freedom::kPartial), 0.5);
  EXPECT_EQ(overhead_share(Freedom::kFull), 1);
}

}  // namespace
}  // namespace pliant
