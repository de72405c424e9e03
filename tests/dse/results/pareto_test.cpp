// SPDX-License-Identifier: Apache-2.0
#include "dse/results/pareto.h"

#include <gtest/gtest.h>

#include <random>

namespace pliant {
namespace {

using Indices = std::vector<std::size_t>;

std::vector<Point> random_points(std::size_t count, std::size_t dims, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> value(0, 12);  // coarse, so that ties occur
  std::vector<Point> points(count, Point(dims));
  for (Point& point : points)
    for (double& x : point) x = value(random);
  return points;
}

TEST(Pareto, KeepsWhatNothingBeats) {
  EXPECT_EQ(non_dominated({{3, 1}, {1, 3}, {2, 2}, {3, 3}, {2, 3}}), (Indices{1, 2, 0}));
  EXPECT_EQ(non_dominated({{1, 1}, {1, 1}, {0, 5}}), (Indices{2, 0}));
  EXPECT_EQ(non_dominated({{4}, {2}, {2}, {9}}), (Indices{1}));
  EXPECT_TRUE(non_dominated({}).empty());
}

TEST(Pareto, AgreesWithTheDefinition) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const std::size_t dims = 1 + seed % 4;
    const auto points = random_points(60, dims, seed);
    const Indices frontier = non_dominated(points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      bool beaten = false, listed = false, twin = false;
      for (const Point& other : points) beaten = beaten || dominates(other, points[i]);
      for (const std::size_t f : frontier) {
        listed = listed || f == i;
        twin = twin || points[f] == points[i];
      }
      EXPECT_EQ(twin, !beaten) << seed;
      if (listed) {
        EXPECT_FALSE(beaten);
      }
    }
  }
}

TEST(Pareto, HypervolumeOfBoxes) {
  EXPECT_DOUBLE_EQ(hypervolume({{1, 1}}, {3, 4}), 6);
  EXPECT_DOUBLE_EQ(hypervolume({{1, 2}, {2, 1}}, {3, 3}), 3);
  EXPECT_DOUBLE_EQ(hypervolume({{1, 2}, {2, 1}, {5, 0}}, {3, 3}), 3);  // beyond the reference
  EXPECT_DOUBLE_EQ(hypervolume({{0, 0, 0}, {-1, 1, 1}}, {2, 2, 2}), 8 + 1);
  EXPECT_DOUBLE_EQ(hypervolume({}, {2, 2}), 0);
}

// On a grid of whole numbers the volume is the number of dominated cells.
TEST(Pareto, HypervolumeAgreesWithCounting) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const auto points = random_points(9, 3, seed);
    double cells = 0;
    for (int x = 0; x < 13; ++x)
      for (int y = 0; y < 13; ++y)
        for (int z = 0; z < 13; ++z) {
          bool inside = false;
          for (const Point& p : points) inside = inside || (p[0] <= x && p[1] <= y && p[2] <= z);
          cells += inside ? 1 : 0;
        }
    EXPECT_DOUBLE_EQ(hypervolume(points, {13, 13, 13}), cells);
  }
}

TEST(Pareto, KneeIsFarthestFromTheLineBetweenTheEnds) {
  EXPECT_EQ(knee({{0, 100}, {1, 20}, {5, 10}, {10, 0}}), 1U);
  EXPECT_FALSE(knee({{0, 1}, {1, 0}}).has_value());
}

}  // namespace
}  // namespace pliant
