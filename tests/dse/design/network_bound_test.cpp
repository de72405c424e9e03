// SPDX-License-Identifier: Apache-2.0
// The bound of a network lies below every sum of points that keep the bounds of their layers, and close to the least.
#include "dse/design/network_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace pliant {
namespace {

TEST(NetworkBound, IsBelowEverySumAndCloseToTheLeast) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> share(0, 1);
  double closest = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<RepeatedBound> layers(2 + random() % 3);
    for (auto& [bound, count] : layers) {
      bound.energy_pj = 1 + 9 * share(random);
      bound.cycles = 1 + 9 * share(random);
      bound.edp = bound.energy_pj * bound.cycles * (share(random) < 0.3 ? 0.5 : 1 + 2 * share(random));
      count = 1 + static_cast<Count>(random() % 3);
    }
    const NetworkBound network = bound_network(layers);
    double least = std::numeric_limits<double>::infinity();
    for (int sample = 0; sample < 3000; ++sample) {
      // Points on the border of each layer's region, where sums are least. The same slope for all finds the least sums.
      const double slope = std::exp(8 * share(random) - 4);
      double energy = 0, cycles = 0;
      for (const auto& [bound, count] : layers) {
        const double most = std::max(bound.cycles, bound.edp / bound.energy_pj);
        const double at = sample % 2 == 0 ? bound.cycles + (most - bound.cycles) * share(random)
                                          : std::clamp(std::sqrt(bound.edp / slope), bound.cycles, most);
        cycles += static_cast<double>(count) * at;
        energy += static_cast<double>(count) * std::max(bound.energy_pj, bound.edp / at);
      }
      ASSERT_GE(energy * cycles, network.edp * (1 - 1e-12));
      ASSERT_GE(energy, network.energy_pj * (1 - 1e-12));
      ASSERT_GE(cycles, network.cycles * (1 - 1e-12));
      least = std::min(least, energy * cycles);
    }
    closest = std::max(closest, least / network.edp - 1);
  }
  EXPECT_LE(closest, 1e-3);  // 1500 slopes miss the best one by a little
}

TEST(NetworkBound, OfOneLayerIsTheLayers) {
  const NetworkBound network = bound_network({{{3, 4, 20}, 2}});
  EXPECT_EQ(network.energy_pj, 6);
  EXPECT_EQ(network.cycles, 8);
  EXPECT_NEAR(network.edp, 80, 1e-4);
}

}  // namespace
}  // namespace pliant
