// SPDX-License-Identifier: Apache-2.0
#include "dse/report/venn.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace pliant {
namespace {

TEST(Venn, OverlapOfTwoCircles) {
  EXPECT_EQ(overlap_area(2, 1, 3), 0);
  EXPECT_DOUBLE_EQ(overlap_area(2, 1, 0.5), std::numbers::pi);
  EXPECT_NEAR(overlap_area(1, 1, 1), 2 * std::numbers::pi / 3 - std::sqrt(3) / 2, 1e-12);
}

TEST(Venn, AreasAreToScale) {
  for (const VennPanel& panel : {VennPanel{"part", 1024, 64, 340.1, 37.6, 320.4, 0.06, 0.2},
                                 VennPanel{"full", 1024, 1024, 340.1, 320.4, 320.4, 1, 0.98},
                                 VennPanel{"orders", 720, 3, 24, 3, 24, 0.004, 0.13},
                                 VennPanel{"tiles", 1.79e14, 3.98e13, 9.99e13, 1.05e13, 3.23e13, 0.22, 0.16},
                                 VennPanel{"larger layer", 100, 20, 1000, 20, 100, 0.2, 0.02}}) {
    const VennCircles circles = venn_circles(panel);
    const auto area = [](const VennCircles::Circle& one) { return std::numbers::pi * one.radius * one.radius; };
    const auto common = [](const VennCircles::Circle& one, const VennCircles::Circle& two) {
      return overlap_area(one.radius, two.radius, std::abs(one.x - two.x));
    };
    EXPECT_NEAR(area(circles.c) / panel.c, 1, 1e-9) << panel.title;
    EXPECT_NEAR(area(circles.w) / panel.w, 1, 1e-9) << panel.title;
    EXPECT_NEAR(area(circles.a) / panel.a, 1, 1e-9) << panel.title;
    EXPECT_NEAR(common(circles.c, circles.w) / panel.c_and_w, 1, 1e-6) << panel.title;
    EXPECT_NEAR(common(circles.a, circles.w) / panel.a_and_w, 1, 1e-6) << panel.title;
    EXPECT_LE(std::abs(circles.a.x - circles.c.x) + circles.a.radius, circles.c.radius * (1 + 1e-9)) << panel.title;
  }
}

TEST(Venn, IsAnSvgWithOnePanelForEachDesign) {
  const std::string svg =
      venn_svg("loop order", "loop orders",
               {{"In", 720, 1, 24, 1, 24, 1.0 / 720, 1.0 / 24}, {"Full", 720, 720, 24, 24, 24, 1, 1}});
  EXPECT_EQ(svg.find("<svg "), 0u);
  EXPECT_NE(svg.find(">In<"), std::string::npos);
  EXPECT_NE(svg.find(">Full<"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace pliant
