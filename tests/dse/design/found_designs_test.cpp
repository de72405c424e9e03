// SPDX-License-Identifier: Apache-2.0
// What a design search needs to know about the designs found: which bounds they beat, and with how much room.
#include "dse/design/found_designs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dse/design/known_mappings.h"
#include "support/draw.h"

namespace pliant {
namespace {

/// The bounds with the goals that are not fixed divided by a factor.
Point divided(Point bounds, const std::vector<bool>& fixed, double by) {
  for (std::size_t k = 0; k < bounds.size(); ++k)
    if (!fixed[k]) bounds[k] /= by;
  return bounds;
}

TEST(FoundDesigns, RoomIsHowFarBoundsMayFall) {
  tests::Draw draw(5);
  int roomy = 0;
  for (int trial = 0; trial < 500; ++trial) {
    FoundDesigns found(trial % 2 == 0 ? 0 : 0.05);
    const auto value = [&] { return static_cast<double>(draw.from(1000, 2000)) / 1000; };
    const std::size_t goals = 1 + static_cast<std::size_t>(trial % 3);
    const auto point = [&] {
      Point values;
      for (std::size_t k = 0; k < goals; ++k) values.push_back(value());
      return values;
    };
    for (std::int64_t design = 0; design < 5; ++design) found.add(design, point());
    std::vector<bool> fixed(goals, false);
    fixed[0] = goals > 1 && trial % 4 != 0;
    const Point bounds = point();
    const double room = found.room(bounds, fixed);
    EXPECT_EQ(room >= 1, found.beating(bounds).has_value());
    if (room == 0) continue;
    EXPECT_TRUE(found.beating(divided(bounds, fixed, room * (1 - 1e-6))));
    EXPECT_FALSE(found.beating(divided(bounds, fixed, room * (1 + 1e-6))));
    if (room <= 1) continue;
    // Bounds within the gap of these beat no more than that.
    EXPECT_TRUE(found.beating(divided(bounds, fixed, 1 / (1 - gap_within(room)))));
    ++roomy;
  }
  EXPECT_GE(roomy, 50);
}

TEST(FoundDesigns, DistanceIsTheGapThatWouldClose) {
  tests::Draw draw(6);
  int apart = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Point> points;
    for (int k = 0; k < 6; ++k)
      points.push_back({static_cast<double>(draw.from(1000, 2000)), static_cast<double>(draw.from(1000, 2000))});
    const auto with_gap = [&](double gap) {
      FoundDesigns found(gap);
      for (std::size_t k = 1; k < points.size(); ++k) found.add(static_cast<std::int64_t>(k), points[k]);
      return found;
    };
    const double distance = with_gap(0).distance(points[0]);
    EXPECT_TRUE(with_gap(distance).beating(points[0]));
    if (distance == 0) continue;
    EXPECT_FALSE(with_gap(distance * 0.999).beating(points[0]));
    ++apart;
  }
  EXPECT_GE(apart, 30);
  EXPECT_TRUE(std::isinf(FoundDesigns(0).distance({1, 1})));
}

TEST(FoundDesigns, WithoutRoomNoGap) {
  EXPECT_EQ(gap_within(0), 0);
  EXPECT_EQ(gap_within(1), 0);
  EXPECT_GT(gap_within(1.1), 0);
  EXPECT_LE(gap_within(1e9), 0.5);
}

TEST(KnownMappings, TheLayerWithTheMostToGainComesFirst) {
  DistinctLayers layers{Sweep{}};
  layers.layers.resize(3);
  layers.networks.resize(3);
  layers.workloads = {{{0, 1}, {1, 10}, {2, 1}}, {{2, 1}}};
  const LayerBounds low = {{0, 0, 1}, {0, 0, 1}, {0, 0, 1}};
  const LayerBounds high = {{0, 0, 4}, {0, 0, 2.25}, {0, 0, 1.21}};
  // Of the first network's sum of roots, 2 + 15 + 1.1, they are 1, 5 and 0.1; of the second's, 1.1, 0.1.
  const std::vector<double> gains = possible_gains(layers, low, high, 0);
  EXPECT_NEAR(gains[0], 1 / 18.1, 1e-12);
  EXPECT_NEAR(gains[1], 5 / 18.1, 1e-12);
  EXPECT_NEAR(gains[2], 0.1 / 1.1, 1e-12);
}

}  // namespace
}  // namespace pliant
