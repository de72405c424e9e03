// SPDX-License-Identifier: Apache-2.0
// First arrivals of outputs are not read back. Where outputs have windows they are bounded from above, but never are
// there more of them than arrivals: no bound subtracts more than it has.
#include <gtest/gtest.h>

#include "dse/mappers/exact/bounds/unrolling_bounds.h"
#include "dse/mappers/exact/truth_by_choice.h"
#include "dse/mappers/exact/words_of_transfers.h"
#include "dse/mappers/mapper.h"

namespace pliant::exact {
namespace {

/// Outputs far apart, as of a transposed convolution with a stride, on six units whose boxes hold mostly holes.
Task transposed(Factorization factorization, int p, int q) {
  Task task = task_of(R"(
conventions: timeloop
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 0, write_pj: 0}
  - {fanout: PEs, cols: 6}
  - {memory: Acc, capacity: 264 words, keeps: [weights, outputs], read_pj: 1.125, write_pj: 0.75}
  - {memory: Reg, capacity: unbounded, keeps: [inputs], read_pj: 0, write_pj: 0}
  - {compute: MAC, mac_pj: 0}
flexibility:
  loops: {Acc: []}
)",
                      "  dims: {P: " + std::to_string(p) + ", Q: " + std::to_string(q) + R"(, R: 2}
  tensors:
    - {name: I, role: inputs, projection: [P, Q]}
    - {name: W, role: weights, projection: [R]}
    - {name: O, role: outputs, projection: [4*P + R, 4*Q]}
)");
  task.factorization = factorization;
  task.objective = Objective::kEnergy;
  return task;
}

TEST(FirstArrivals, BoundsAreNeitherBelowZeroNorAboveTheTruth) {
  int choices = 0;
  for (const Factorization factorization :
       {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRubyT, Factorization::kRuby}) {
    const Truth truth(transposed(factorization, 3, 2));
    SCOPED_TRACE(to_string(factorization));
    ASSERT_TRUE(truth.complete);
    const ResolvedTask resolved(truth.task, truth.problem);
    ChoiceBounds bounds(resolved);
    for (const Choice& choice : truth.choices) {
      const auto looked = bounds.look_at(choice.spatial).bounds;
      ASSERT_NE(looked, nullptr);
      std::size_t keeps = 0;
      while (bounds.keeps(keeps) != choice.keeps) ++keeps;
      const double energy = looked->shared(keeps, {1, 0, 0});
      EXPECT_GE(energy, 0);
      EXPECT_TRUE(at_most(energy, choice.least([](const Priced& m) { return m.energy; }))) << energy;
      Bounded bounded(resolved, choice);
      ASSERT_TRUE(bounded.lattice.build());
      const Functional functional = bounded.lattice.energy();
      const double tables = bounded.lattice.solve(functional, kInfinity).best;
      EXPECT_GE(tables, 0);
      EXPECT_TRUE(at_most(tables, choice.least([](const Priced& m) { return m.energy; }))) << tables;
      ++choices;
    }
  }
  EXPECT_GT(choices, 20);
}

// A search that has hardly begun knows the floor, and its certificate claims no less of any part.
TEST(FirstArrivals, NoBoundBelowTheFloorIsReported) {
  for (const Factorization factorization : {Factorization::kRubyS, Factorization::kRubyT, Factorization::kRuby}) {
    const Task task = transposed(factorization, 12, 7);
    const Problem problem(task.layer, task.accelerator);
    const ResolvedTask resolved(task, problem);
    const double floor = ChoiceBounds(resolved).floor(problem.busy_cycles);
    SearchOptions options;
    options.record_parts = true;
    options.budget.seconds = 1e-6;
    const SearchResult result = make_mapper("exact")->search(task, options);
    EXPECT_GE(result.lower_bound, floor * (1 - kSame));
    EXPECT_GT(floor, 0);
    for (const audit::Part& part : result.parts) EXPECT_GE(part.lower_bound, floor * (1 - kSame));
  }
}

}  // namespace
}  // namespace pliant::exact
