// SPDX-License-Identifier: Apache-2.0
// Lines below a workload that is asked as a whole: never above what it can reach, and close to it where it matters.
#include "dse/design/whole_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "core/arithmetic.h"
#include "support/random_graphs.h"

namespace pliant {
namespace {

struct Choice {
  double energy_pj = 0, cycles = 0;
};

std::vector<Choice> random_choices(std::mt19937_64& random) {
  std::uniform_real_distribution<double> spread(0, 1);
  std::vector<Choice> all(1 + random() % 12);
  for (Choice& one : all) {
    one.cycles = 10 + 90 * spread(random);
    one.energy_pj = 2000 / one.cycles + 40 * spread(random);
  }
  return all;
}

LineBound line_below(const std::vector<Choice>& choices, double slope) {
  LineBound line{slope, kInfinity, 0, kInfinity, true};
  for (const Choice& one : choices) {
    const double value = std::isinf(slope) ? one.cycles : one.energy_pj + slope * one.cycles;
    if (value >= line.least) continue;
    line = {slope, value, one.energy_pj, one.cycles, true};
  }
  return line;
}

TEST(WholeLines, BoundsAreBelowEveryChoiceThatKeepsTheDeadline) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> spread(0, 1);
  for (int trial = 0; trial < 2000; ++trial) {
    const std::vector<Choice> choices = random_choices(random);
    LayerBound bound;
    for (std::size_t k = random() % 5; k > 0; --k)
      bound.raise(line_below(choices, random() % 9 == 0 ? 0 : 2 * spread(random)));
    if (random() % 3 == 0) bound.raise(line_below(choices, kInfinity));
    if (random() % 3 == 0) bound.raise(line_below(choices, 0));
    const double deadline = random() % 4 == 0 ? kInfinity : 5 + 95 * spread(random);
    const NetworkBound least = bound_whole(bound, deadline);
    const WholeReached reached = reached_by(bound, deadline);
    for (const Choice& one : choices) {
      EXPECT_LE(least.cycles, one.cycles * (1 + 1e-12));
      if (one.cycles > deadline) continue;
      EXPECT_LE(least.energy_pj, one.energy_pj * (1 + 1e-12));
      EXPECT_LE(least.edp, one.energy_pj * one.cycles * (1 + 1e-12));
    }
    // No line can say more than what was found allows.
    EXPECT_LE(least.energy_pj, reached.least.energy_pj * (1 + 1e-12));
    EXPECT_LE(least.cycles, reached.least.cycles * (1 + 1e-12));
    EXPECT_LE(least.edp, reached.least.edp * (1 + 1e-12));
  }
}

/// What lines at all slopes say.
double hull_energy(const std::vector<Choice>& choices, double deadline) {
  double least = 0;
  for (double slope = 0; slope < 50; slope = slope * 1.003 + 1e-5)
    least = std::max(least, line_below(choices, slope).least - (slope > 0 ? slope * deadline : 0));
  return least;
}

TEST(WholeLines, TheNextSlopesComeToWhatAllLinesSay) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> spread(0, 1);
  int bound_by_deadline = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const std::vector<Choice> choices = random_choices(random);
    const double fastest = line_below(choices, kInfinity).cycles;
    const double deadline = fastest + 1 + 90 * spread(random);
    LayerBound bound;
    int asked = 0;
    while (const auto slope = next_slope(bound, {true, false, false}, deadline)) {
      bound.raise(line_below(choices, *slope));
      ASSERT_LE(++asked, 8);
    }
    const double all = hull_energy(choices, deadline);
    EXPECT_NEAR(bound_whole(bound, deadline).energy_pj / all, 1, 1e-3);
    bound_by_deadline += line_below(choices, 0).cycles > deadline ? 1 : 0;
    LayerBound product;
    asked = 0;
    while (const auto slope = next_slope(product, {false, false, true}, kInfinity)) {
      product.raise(line_below(choices, *slope));
      ASSERT_LE(++asked, 8);
    }
    double least = kInfinity;
    for (const Choice& one : choices) least = std::min(least, one.energy_pj * one.cycles);
    const double proven = bound_whole(product, kInfinity).edp;
    EXPECT_LE(proven, least * (1 + 1e-12));
    EXPECT_GT(proven, 0.5 * least);
  }
  EXPECT_GT(bound_by_deadline, 50);
}

// Every choice of mappings and places of random networks, as enumeration lists them.
TEST(WholeFloor, IsBelowTheNetworksOptimum) {
  double energy = 0, cycles = 0;  // shares of what is reached
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    const tests::RandomGraph graph = tests::random_graph(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + graph.text);
    const LayerBound floor =
        whole_floor(graph.workload, graph.rows.front().accelerator, graph.rows.front().factorization);
    double least_energy = kInfinity, least_cycles = kInfinity;
    for (const auto& [e, t] : tests::every_choice(graph, true)) {
      EXPECT_LE(floor.energy_pj, e * (1 + 1e-12));
      EXPECT_LE(floor.cycles, t * (1 + 1e-12));
      EXPECT_LE(floor.edp, e * t * (1 + 1e-12));
      least_energy = std::min(least_energy, e);
      least_cycles = std::min(least_cycles, t);
    }
    if (std::isinf(least_energy)) continue;
    energy = std::max(energy, floor.energy_pj / least_energy);
    cycles = std::max(cycles, floor.cycles / least_cycles);
  }
  EXPECT_GT(energy, 0.5);
  EXPECT_GT(cycles, 0.5);
}

}  // namespace
}  // namespace pliant
