// SPDX-License-Identifier: Apache-2.0
// Deadlines (Task::most_cycles) that some mappings meet, or none: an unrolling that is too slow has no bounds to ask.
#include <gtest/gtest.h>

#include "core/input/load.h"
#include "dse/mappers/exact/bounds/unrolling_bounds.h"
#include "dse/mappers/exact/truth_by_choice.h"
#include "dse/mappers/mapper.h"
#include "dse/mappers/network.h"
#include "support/campaign.h"
#include "support/counted_clock.h"
#include "support/network_agreement.h"

namespace pliant::exact {
namespace {

constexpr std::array kFactorizations{Factorization::kPerfect, Factorization::kRubyS, Factorization::kRubyT,
                                     Factorization::kRuby, Factorization::kPadding};

/// Five windows of three values on 3 x 2 units: perfect factors use three of them, remainders all.
Task short_convolution(Factorization factorization) {
  Task task = task_of(R"(
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 8, write_pj: 8}
  - {fanout: PEs, rows: 3, cols: 2}
  - {memory: Reg, capacity: 16 words, read_pj: 1, write_pj: 1}
  - {compute: MAC, mac_pj: 1}
)",
                      R"(  dims: {P: 5, R: 3}
  tensors:
    - {name: I, role: inputs, projection: [P + R]}
    - {name: W, role: weights, projection: [R]}
    - {name: O, role: outputs, projection: [P]}
)");
  task.factorization = factorization;
  task.objective = Objective::kEnergy;
  return task;
}

double fewest_cycles(Task task) {
  task.objective = Objective::kRuntime;
  const SearchResult fast = run_mapper(*make_mapper("exact"), task, {});
  EXPECT_TRUE(fast.certified);
  return fast.totals.cycles;
}

TEST(Deadline, OptimaEqualThoseOfAnEnumeration) {
  for (const Factorization factorization : kFactorizations) {
    SCOPED_TRACE(to_string(factorization));
    Task task = short_convolution(factorization);
    const double fewest = fewest_cycles(task);
    // With remainders the easier task with perfect factors, which comes first, cannot meet the fewest cycles.
    for (const double cycles : {fewest / 2, fewest, fewest + 1, 2 * fewest, 4 * fewest}) {
      task.most_cycles = cycles;
      const tests::Judgement judgement = tests::compare_with_enumeration(task);
      EXPECT_EQ(judgement.outcome, tests::Outcome::kAgrees) << cycles << ": " << judgement.what;
    }
  }
}

TEST(Deadline, AnUnrollingThatIsTooSlowHasNoBounds) {
  Task task = short_convolution(Factorization::kPerfect);
  task.most_cycles = 5;  // three units need 5, one needs 15
  const Truth truth(task);
  ASSERT_TRUE(truth.complete);
  const ResolvedTask resolved(truth.task, truth.problem);
  ChoiceBounds bounds(resolved);
  int fast = 0, slow = 0;
  for (const Choice& choice : truth.choices) {
    const auto [least, known] = bounds.look_at(choice.spatial);
    const bool meets = least_steps(truth.task, truth.problem, choice.spatial) <= task.most_cycles;
    EXPECT_EQ(known != nullptr, meets);
    EXPECT_EQ(least < kInfinity, meets);
    ++(meets ? fast : slow);
  }
  EXPECT_GT(fast, 0);
  EXPECT_GT(slow, 0);
}

// What was learnt of one unrolling is not changed by looking at others.
TEST(Deadline, WhatWasLearntOfAnUnrollingStays) {
  const Truth truth(short_convolution(Factorization::kRubyS));
  ASSERT_TRUE(truth.complete);
  const ResolvedTask resolved(truth.task, truth.problem);
  ChoiceBounds bounds(resolved);
  std::vector<ChoiceBounds::Looked> all;
  for (const Choice& choice : truth.choices) all.push_back(bounds.look_at(choice.spatial));
  for (std::size_t i = 0; i < all.size(); ++i) {
    ChoiceBounds fresh(resolved);
    const auto [least, alone] = fresh.look_at(truth.choices[i].spatial);
    EXPECT_EQ(least, all[i].least);
    ASSERT_NE(alone, nullptr);
    EXPECT_EQ(alone->costs(), all[i].bounds->costs());
    EXPECT_EQ(alone->least_shared(kInfinity).value, all[i].bounds->least_shared(kInfinity).value);
  }
  EXPECT_GT(all.size(), 3u);
}

// A network asks for the fewest cycles of a layer, then for the least energy within them.
TEST(Deadline, NetworksOfWindowsUnderEveryFactorization) {
  for (const Factorization factorization : kFactorizations)
    for (const Objective objective : {Objective::kRuntime, Objective::kEnergy, Objective::kEdp}) {
      SCOPED_TRACE(to_string(factorization));
      const tests::Unrelated network({{short_convolution(factorization), 2}});
      // The least energy alone needs no fastest mappings; with a deadline it does.
      const NetworkGoal goal{objective, objective == Objective::kEnergy ? 1e9 : kInfinity};
      const residency::Optimum found = network.best(goal);
      EXPECT_TRUE(found.certified);
      EXPECT_NEAR(found.fastest_cycles, 2 * fewest_cycles(network.rows[0]), 1e-9);
    }
}

// Where the first mappings are too slow, there is nothing yet to compare floors with. Unrollings still come by their
// floors: all of them would not have room.
TEST(Deadline, ThatFirstMappingsMissNeedsNoListOfAllUnrollings) {
  Task task;
  task.accelerator = load_accelerator(Library(PLIANT_SOURCE_DIR "/configs"), "a100");
  task.layer = parse_layer("gemm:M=192,N=1536,K=8192", "test");
  task.flexibility = task.accelerator.flexibility_of(task.layer);
  task.factorization = Factorization::kRubyS;
  task.most_cycles = fewest_cycles(task);
  task.objective = Objective::kEnergy;
  SearchOptions options;
  const tests::CountedClock clock;
  options.clock = &clock;
  options.budget.seconds = 1e9;
  const SearchResult found = run_mapper(*make_mapper("exact"), task, options);
  EXPECT_TRUE(found.certified);
  EXPECT_LT(clock.wall_seconds(), 10'000);  // looks: 1,574; 65,904 with all of them
}

}  // namespace
}  // namespace pliant::exact
