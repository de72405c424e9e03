// SPDX-License-Identifier: Apache-2.0
// Layers that pass tiles to each other: the optimum is the best of all stacks, held sets and mappings, a public tool's
// optima are reached, and nothing is worse than whole tensors. tests/long/fusion_soak_test.cpp has more networks.
#include "dse/mappers/fusion/fusion.h"

#include <gtest/gtest.h>

#include "core/legality.h"
#include "costmodel/report.h"
#include "support/enumerated_fusion.h"
#include "support/fused_cases.h"
#include "support/random_graphs.h"

namespace pliant {
namespace {

fusion::Optimum fused(const Workload& workload, const std::vector<Task>& rows, const NetworkGoal& goal) {
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  const SearchOptions options;
  return fusion::Search(*exact, workload, rows, options).run(goal);
}
residency::Optimum whole(const Workload& workload, const std::vector<Task>& rows, const NetworkGoal& goal, bool stay) {
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  const SearchOptions options;
  return residency::Search(*exact, workload, rows, options).run(goal, stay);
}

TEST(Fusion, ReachesTheOptimaOfAPublicTool) {
  const auto cases = tests::fused_cases(std::string(PLIANT_SOURCE_DIR) + "/tests/data/accelforge_fused_chains.csv");
  ASSERT_EQ(cases.size(), 22U);
  int better_than_whole = 0;
  for (const tests::FusedCase& one : cases) {
    SCOPED_TRACE(one.text);
    const NetworkGoal goal{one.objective};
    const fusion::Optimum tiles = fused(one.workload, one.rows, goal);
    const residency::Optimum on_chip = whole(one.workload, one.rows, goal, true);
    ASSERT_TRUE(tiles.certified);
    EXPECT_NEAR(whole(one.workload, one.rows, goal, false).value / one.unfused, 1, 1e-9);
    // Where its search had one fused loop, ours may find more; elsewhere the spaces are the same.
    if (one.upper_bound)
      EXPECT_LE(tiles.value, one.fused * (1 + 1e-9));
    else
      EXPECT_NEAR(tiles.value / one.fused, 1, 1e-9);
    EXPECT_LE(tiles.value, on_chip.value * (1 + 1e-12));
    better_than_whole += tiles.value < on_chip.value * (1 - 1e-9) ? 1 : 0;
  }
  EXPECT_EQ(better_than_whole, 17);  // by the tool's own figures: those below the optimum with whole tensors
}

/// FlashAttention's order at a size that can be checked by hand: 128 x 32 x 128 x 32 with 8192 words. Rows are cut in
/// two, T0's and T2's halves stay, columns of T1 pass one by one. Every operand then crosses the border once, but for
/// the weights, which do for each half.
TEST(Fusion, AttentionInTwoHalves) {
  const Workload chain = tests::gemm_chain({128, 32, 128, 32});
  const std::vector<Task> rows = tests::tasks_of(chain, tests::two_memories(8192));
  const fusion::Optimum tiles = fused(chain, rows, {Objective::kEnergy});
  ASSERT_TRUE(tiles.certified);
  const double macs = 2.0 * 128 * 32 * 128;
  const double words = 2 * 128 * 32 + 2 * (2 * 32 * 128);  // T0, T2; W0 and W1 twice
  // Per MAC two operands, the sum and its old value in the buffer; the first sum of an output has no old value.
  const double inside = macs * (4 * 8 + 1) - (128 * 128 + 128 * 32) * 8.0;
  EXPECT_LE(tiles.energy_pj, words * 808 + inside);
}

TEST(Fusion, AgreesWithEnumeration) {
  tests::FusionCounts counts;
  for (std::uint64_t seed = 1; counts.networks < 60 && !::testing::Test::HasFailure(); ++seed)
    tests::compare_fusion_with_enumeration(seed, counts);
  EXPECT_GE(counts.better, 10);
  EXPECT_GE(counts.windows, 1);
  EXPECT_GE(counts.splits, 1);
}

TEST(Fusion, PlacesAreGivenForWholeLoops) {
  // Windows of padded rows: their producer runs in the first round alone, or makes less in it than in the last. What it
  // reads has its place in all of them.
  tests::FusionCounts counts;
  for (const std::uint64_t seed : {900324, 5002155}) tests::compare_fusion_with_enumeration(seed, counts);
  EXPECT_EQ(counts.networks, 2);
}

/// A softmax or a norm between two layers works on tiles that have whole rows, an online softmax on any.
TEST(Fusion, OperatorsOnTilesAgreeWithEnumeration) {
  tests::FusionCounts counts;
  for (std::uint64_t seed = 1; counts.networks < 60 && !::testing::Test::HasFailure(); ++seed)
    tests::compare_operators_with_enumeration(seed, counts);
  EXPECT_GE(counts.better, 5);
}

/// Attention heads, grouped queries, online softmax.
TEST(Fusion, HeadsThatShareOperandsAgreeWithEnumeration) {
  tests::FusionCounts counts;
  for (std::uint64_t seed = 1; counts.networks < 25 && !::testing::Test::HasFailure(); ++seed)
    tests::compare_heads_with_enumeration(seed, counts);
  EXPECT_GE(counts.shared, 5);
  EXPECT_GE(counts.parts, 5);
}

/// Where tensors live and which layers pass tiles on, in networks with branches.
TEST(Fusion, BranchesAgreeWithEnumeration) {
  tests::FusionCounts counts;
  for (std::uint64_t seed = 1; counts.networks < 40 && !::testing::Test::HasFailure(); ++seed)
    tests::compare_graphs_with_enumeration(seed, counts);
  EXPECT_GE(counts.better, 3);
}

/// Branches, skips and operators: groups are edges beside everything that residency knows.
TEST(Fusion, IsNeverWorseThanWholeTensors) {
  int better = 0, groups = 0, strangers = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const tests::RandomGraph graph = tests::random_graph(seed);
    SCOPED_TRACE(graph.text);
    const residency::Optimum before = whole(graph.workload, graph.rows, {Objective::kEdp}, true);
    const fusion::Optimum after = fused(graph.workload, graph.rows, {Objective::kEdp});
    if (!before.found()) continue;
    ASSERT_TRUE(after.certified);
    EXPECT_LE(after.value, before.value * (1 + 1e-12));
    if (after.groups.empty()) {
      EXPECT_NEAR(after.value / before.value, 1, 1e-12);
    }
    better += after.value < before.value * (1 - 1e-9) ? 1 : 0;
    double energy = 0, cycles = 0;
    for (const residency::StepChoice& step : after.steps) {
      energy += step.energy_pj;
      cycles += step.cycles;
    }
    EXPECT_NEAR(energy / after.energy_pj, 1, 1e-9);
    EXPECT_NEAR(cycles / after.cycles, 1, 1e-9);
    const residency::LiveTensors live = residency::live_tensors(graph.workload, graph.rows);
    for (const fusion::GroupChoice& group : after.groups) {
      ++groups;
      // What lives on chip beside the group takes its room from every run.
      const int first = group.steps.front(), last = group.steps.back();
      Count beside = 0;
      for (std::size_t t = 0; t < live.tensors.size(); ++t) {
        const residency::LiveTensor& tensor = live.tensors[t];
        if (after.tiles[t] || after.homes[t] != group.setting.home || tensor.made_by > last ||
            tensor.last_read < first || tensor.last_read == tensor.made_by)
          continue;
        beside += residency::words_at(live, graph.rows, static_cast<int>(t), last, group.setting.home);
        ++strangers;
      }
      for (const fusion::RunChoice& run : group.runs) {
        const Memory& home = run.task.accelerator.levels[static_cast<std::size_t>(group.setting.home)].memory();
        EXPECT_GE(home.reserved_words[0] + home.reserved_words[1] + home.reserved_words[2],
                  beside + group.plan.tile_words[static_cast<std::size_t>(run.layer)]);
      }
      for (const fusion::RunChoice& run : group.runs) {
        const Task& task = run.task;
        EXPECT_TRUE(
            check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, run.mapping).empty());
        EXPECT_EQ(price(task.layer, task.accelerator, run.mapping).totals.energy_pj, run.totals.energy_pj);
      }
    }
  }
  EXPECT_GE(better, 5);
  EXPECT_GE(groups, better);
  EXPECT_GE(strangers, 1);
}

/// Between two corners of the hull nothing is combined, and the answer says so; what is told keeps the deadline.
TEST(Fusion, KeepsADeadline) {
  const Workload chain = tests::gemm_chain({64, 64, 64, 64});
  const std::vector<Task> rows = tests::tasks_of(chain, tests::two_memories(2048, 0.03125));
  const fusion::Optimum free = fused(chain, rows, {Objective::kEnergy});
  const fusion::Optimum fast = fused(chain, rows, {Objective::kRuntime});
  ASSERT_TRUE(free.certified && fast.certified);
  const fusion::Optimum kept = fused(chain, rows, {Objective::kEnergy, free.cycles});
  EXPECT_LE(kept.cycles, free.cycles * (1 + 1e-9));
  EXPECT_LE(kept.lower_bound, kept.value);
  EXPECT_NEAR(kept.value / free.value, 1, 1e-9);
  const fusion::Optimum never = fused(chain, rows, {Objective::kEnergy, fast.cycles / 2});
  EXPECT_TRUE(never.infeasible);
}

/// A search that is stopped at once tells what it has, with a bound that holds.
TEST(Fusion, WhatIsStoppedHasABound) {
  const Workload chain = tests::gemm_chain({64, 64, 64, 64});
  const std::vector<Task> rows = tests::tasks_of(chain, tests::two_memories(2048));
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  std::stop_source stop;
  stop.request_stop();
  SearchOptions options;
  options.stop = stop.get_token();
  const fusion::Optimum told = fusion::Search(*exact, chain, rows, options).run({Objective::kEnergy});
  EXPECT_FALSE(told.certified);
  EXPECT_LE(told.lower_bound, fused(chain, rows, {Objective::kEnergy}).value);
}

}  // namespace
}  // namespace pliant
