// SPDX-License-Identifier: Apache-2.0
// The optimum of a network is the best of all combinations of all mappings of its layers.
#include "dse/mappers/network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/legality.h"
#include "costmodel/report.h"
#include "dse/mappers/network_hull.h"
#include "support/network_agreement.h"
#include "support/random_cases.h"

namespace pliant {
namespace {

using tests::best_of;
using tests::Pairs;

Pairs every_combination(const std::vector<NetworkLayer>& layers) {
  return tests::every_combination(layers, std::uint64_t{1} << 40).value();
}

struct RandomNetwork {
  std::vector<NetworkLayer> layers;
  std::string text;
};

RandomNetwork random_network(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  RandomNetwork network;
  const std::uint64_t size = 2 + random() % 3;
  for (std::uint64_t i = 0; i < size; ++i) {
    tests::RandomCase one = tests::random_case(
        random() % 1'000'000,
        {.factorizations = {Factorization::kPerfect}, .most_mappings = 1'500, .infeasible_share = 0});
    // What a layer proves by Timeloop's halo may stay open; the networks are about sums.
    Conventions& conventions = one.task.accelerator.conventions;
    if (conventions == Conventions::timeloop()) conventions.halo = Conventions::Halo::kRun;
    network.text += one.text + "\n";
    network.layers.push_back({one.task, static_cast<Count>(1 + random() % 3)});
  }
  return network;
}

/// The parts are legal, are the whole network, and cost what the sums say.
void expect_sums(const std::vector<NetworkLayer>& layers, const residency::Optimum& found) {
  double energy = 0, cycles = 0;
  ASSERT_EQ(found.steps.size(), layers.size());
  std::vector<Count> times(layers.size(), 0);
  for (std::size_t i = 0; i < layers.size(); ++i)
    for (const residency::StepPart& part : found.steps[i].parts) {
      const Task& task = layers[i].task;
      EXPECT_TRUE(
          check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, part.mapping).empty());
      const Totals totals = price(task.layer, task.accelerator, part.mapping).totals;
      energy += static_cast<double>(part.count) * totals.energy_pj;
      cycles += static_cast<double>(part.count) * totals.cycles;
      times[i] += part.count;
    }
  for (std::size_t i = 0; i < layers.size(); ++i) EXPECT_EQ(times[i], layers[i].count);
  EXPECT_NEAR(energy / found.energy_pj, 1, 1e-9);
  EXPECT_NEAR(cycles / found.cycles, 1, 1e-9);
}

TEST(Network, OptimumIsTheBestOfAllCombinations) {
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  int apart = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const RandomNetwork network = random_network(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + network.text);
    const Pairs all = every_combination(network.layers);
    for (const Objective objective : {Objective::kRuntime, Objective::kEnergy, Objective::kEdp, Objective::kEd2p}) {
      const residency::Optimum found = tests::Unrelated(network.layers).best({objective});
      const double truth = best_of(all, objective, kInfinity);
      ASSERT_TRUE(found.certified) << to_string(objective);
      EXPECT_NEAR(found.value / truth, 1, 1e-9) << to_string(objective);
      EXPECT_EQ(found.lower_bound, found.value);
      expect_sums(network.layers, found);
    }
    // Does the network ask for other mappings than its layers do?
    double energy = 0, cycles = 0;
    for (const NetworkLayer& layer : network.layers) {
      Task task = layer.task;
      task.objective = Objective::kEdp;
      const Totals totals = run_mapper(*exact, task, {}).totals;
      energy += static_cast<double>(layer.count) * totals.energy_pj;
      cycles += static_cast<double>(layer.count) * totals.cycles;
    }
    apart += energy * cycles > best_of(all, Objective::kEdp, kInfinity) * (1 + 1e-9);
  }
  EXPECT_GE(apart, 2);  // else the test says nothing about sums
}

TEST(Network, BestWithinADeadline) {
  int mixed = 0;
  for (std::uint64_t seed = 101; seed <= 150; ++seed) {
    const RandomNetwork network = random_network(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + network.text);
    const Pairs all = every_combination(network.layers);  // least energy and slowest first
    const double slowest = all.front().second, fastest = all.back().second;
    for (const Objective objective : {Objective::kEnergy, Objective::kEdp, Objective::kEd2p})
      for (const double share : {0.0, 0.3, 0.5, 0.9, 1.0}) {
        const double deadline = fastest + share * (slowest - fastest);
        const residency::Optimum found = tests::Unrelated(network.layers).best({objective, deadline});
        ASSERT_TRUE(found.certified);
        EXPECT_NEAR(found.value / best_of(all, objective, deadline), 1, 1e-9);
        EXPECT_LE(found.cycles, deadline);
        expect_sums(network.layers, found);
        mixed += std::ranges::any_of(found.steps, [](const auto& step) { return step.parts.size() > 1; });
      }
    const residency::Optimum never = tests::Unrelated(network.layers).best({Objective::kEnergy, fastest * 0.99});
    EXPECT_TRUE(never.infeasible);
    EXPECT_FALSE(never.found());
    EXPECT_NEAR(never.fastest_cycles / fastest, 1, 1e-9);
  }
  EXPECT_GE(mixed, 3);  // repetitions of one layer with different mappings
}

// A line of a search that proved little meets its neighbours below zero: what the others say by themselves still holds.
TEST(Network, NoBoundIsBelowTheLeastEnergyInTheFewestCycles) {
  const auto find = [](double slope) -> std::optional<NetworkLine> {
    if (std::isinf(slope)) return NetworkLine{slope, 10, 300, 10};
    if (slope == 0) return NetworkLine{0, 100, 100, 50};
    return NetworkLine{slope, 1, 150, 20};
  };
  NetworkHull hull({Objective::kEdp}, {}, find);
  ASSERT_TRUE(hull.close());
  EXPECT_LE(hull.lower_bound(), 3000);
  EXPECT_GE(hull.lower_bound(), 100 * 10);
}

}  // namespace
}  // namespace pliant
