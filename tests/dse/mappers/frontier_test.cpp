// SPDX-License-Identifier: Apache-2.0
// The frontier that the exact mapper walks is the frontier of all mappings.
#include "dse/mappers/frontier.h"

#include <gtest/gtest.h>

#include "core/input/load.h"
#include "support/random_cases.h"

namespace pliant {
namespace {

using Pairs = std::vector<std::pair<double, double>>;

Pairs values(const Frontier& frontier) {
  Pairs all;
  for (const SearchResult& point : frontier.points) all.emplace_back(point.totals.cycles, point.totals.energy_pj);
  return all;
}

TEST(Frontier, OfExactIsThatOfAllMappings) {
  const std::unique_ptr<Mapper> exact = make_mapper("exact"), exhaustive = make_mapper("exhaustive");
  std::size_t longest = 0;
  int certified = 0;
  for (std::uint64_t seed = 9000; seed < 9096; ++seed) {
    const tests::RandomCase random = tests::random_case(seed, {.most_mappings = 3'000});
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + random.text);
    const Frontier truth = search_frontier(*exhaustive, random.task, {});
    const Frontier found = search_frontier(*exact, random.task, {});
    if (!found.certified) continue;  // Timeloop's halo may keep a proof open
    ++certified;
    const Pairs a = values(truth), b = values(found);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].first, b[i].first);
      EXPECT_NEAR(b[i].second / a[i].second, 1, 1e-9);
      if (i > 0) {
        EXPECT_GT(b[i].first, b[i - 1].first);
        EXPECT_LT(b[i].second, b[i - 1].second);
      }
    }
    longest = std::max(longest, a.size());
  }
  EXPECT_GE(certified, 80);
  EXPECT_GE(longest, 3U);
}

TEST(Frontier, PointsAreToldByTheirEnergyWithoutAProofToo) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  Task task;
  task.accelerator = load_accelerator(library, "eyeriss");
  task.layer = parse_layer("gemm:M=8,N=8,K=8", "test");
  task.flexibility = task.accelerator.flexibility_of(task.layer);
  const Frontier frontier = search_frontier(*make_mapper("random"), task, {});
  EXPECT_FALSE(frontier.certified);
  ASSERT_FALSE(frontier.points.empty());
  for (const SearchResult& point : frontier.points) {
    EXPECT_EQ(point.value, point.totals.energy_pj);
    EXPECT_FALSE(point.certified);
    EXPECT_LE(point.lower_bound, point.value);
  }
}

TEST(Frontier, HoldsTheBestOfEveryObjective) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  Task task;
  task.accelerator = load_accelerator(library, "eyeriss");
  task.layer = parse_layer("conv:M=32,C=16,P=14,Q=14,R=3,S=3", "test");
  task.flexibility = task.accelerator.flexibility_of(task.layer);
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  const Frontier frontier = search_frontier(*exact, task, {});
  ASSERT_TRUE(frontier.certified);
  for (const Objective objective : {Objective::kRuntime, Objective::kEnergy, Objective::kEdp, Objective::kEd2p}) {
    task.objective = objective;
    double least = std::numeric_limits<double>::infinity();
    for (const SearchResult& point : frontier.points) least = std::min(least, objective_value(objective, point.totals));
    EXPECT_NEAR(least / run_mapper(*exact, task, {}).value, 1, 1e-9) << to_string(objective);
  }
}

}  // namespace
}  // namespace pliant
