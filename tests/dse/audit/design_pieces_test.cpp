// SPDX-License-Identifier: Apache-2.0
// What the auditor of design searches is made of, each by itself: boxes that hold every point once, and the least
// product of sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "dse/audit/box_cover.h"
#include "dse/audit/sum_of_regions.h"

namespace pliant::audit {
namespace {

std::vector<Box> split_at_random(const Box& space, std::mt19937_64& random) {
  std::vector<Box> all{space};
  for (int k = 0; k < 12; ++k) {
    const std::size_t at = random() % all.size(), axis = random() % space.size();
    const AxisRange range = all[at][axis];
    if (range.size() == 1) continue;
    const auto last = range.first + static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(range.size() - 1));
    Box high = all[at];
    all[at][axis].last = last;
    high[axis].first = last + 1;
    all.push_back(high);
  }
  std::shuffle(all.begin(), all.end(), random);
  return all;
}

std::string problem(const Box& space, const std::vector<Box>& boxes) {
  std::vector<std::size_t> lines;
  for (std::size_t k = 0; k < boxes.size(); ++k) lines.push_back(k + 1);
  return cover_problem(space, boxes, lines);
}

TEST(BoxCover, EveryPointIsInOneBox) {
  const Box space{{0, 3}, {0, 15}, {0, 0}, {0, 7}};
  std::mt19937_64 random(1);
  for (int k = 0; k < 300; ++k) {
    const std::vector<Box> boxes = split_at_random(space, random);
    EXPECT_EQ(problem(space, boxes), "");
    if (boxes.size() < 2) continue;
    std::vector<Box> fewer = boxes, more = boxes, other = boxes;
    fewer.pop_back();
    EXPECT_NE(problem(space, fewer), "") << "a box dropped";
    more.push_back(boxes.front());
    EXPECT_NE(problem(space, more), "") << "a box twice";
    AxisRange& range = other[random() % other.size()][1];
    range.last += range.last < 15 ? 1 : 0;
    if (other != boxes) {
      EXPECT_NE(problem(space, other), "") << "a box that reaches into another";
    }
    range.last = 16;
    EXPECT_NE(problem(space, other), "") << "a box beyond the space";
  }
}

/// A point of the region: energy from its least on, cycles as few as the product and the least allow.
std::pair<double, double> point_of(const Region& region, double share) {
  const double most = std::max(region.energy, region.cycles > 0 ? region.product / region.cycles : 100 * region.energy);
  const double energy = region.energy + share * (most - region.energy);
  return {energy, std::max(region.cycles, region.product / energy)};
}

TEST(SumOfRegions, IsBelowEverySumAndCloseToTheLeast) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<> share(0, 1);
  for (int k = 0; k < 200; ++k) {
    std::vector<Region> layers(1 + random() % 3);
    for (Region& layer : layers) {
      layer = {0.1 + share(random), 0.1 + share(random), 0, 1.0 + static_cast<double>(random() % 4)};
      layer.product = layer.energy * layer.cycles * (0.5 + 4 * share(random));
    }
    const double bound = least_product(layers, std::numeric_limits<double>::infinity());
    double least = std::numeric_limits<double>::infinity();
    // Layers of one kind may be mapped in different ways; their sum is convex, so equal ones are no loss.
    constexpr int kSteps = 60;
    std::vector<int> at(layers.size(), 0);
    for (bool more = true; more;) {
      double energy = 0, cycles = 0;
      for (std::size_t i = 0; i < layers.size(); ++i) {
        const auto [e, t] = point_of(layers[i], static_cast<double>(at[i]) / kSteps);
        energy += layers[i].times * e;
        cycles += layers[i].times * t;
      }
      least = std::min(least, energy * cycles);
      more = false;
      for (int& position : at) {
        more = position < kSteps;
        position = more ? position + 1 : 0;
        if (more) break;
      }
    }
    EXPECT_LE(bound, least * (1 + 1e-9));
    EXPECT_GE(bound, least * (1 - 1e-2)) << "of steps as fine as these";
    // Where less is enough, less is said, but never more than the bound.
    const double enough = least_product(layers, 0.9 * bound);
    EXPECT_GE(enough, 0.9 * bound * (1 - 1e-12));
    EXPECT_LE(enough, bound * (1 + 1e-9));
  }
}

}  // namespace
}  // namespace pliant::audit
