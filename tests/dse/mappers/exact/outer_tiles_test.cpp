// SPDX-License-Identifier: Apache-2.0
// Tiles of the outermost memory with a capacity, and what they cost further in.
#include <gtest/gtest.h>

#include "dse/mappers/exact/bounds/choice_bounds.h"
#include "dse/mappers/exact/words_of_transfers.h"

namespace pliant::exact {
namespace {

/// A product of matrices on a buffer and a register for one output.
Task product(int k, int buffer, double dram_pj) {
  Task task = task_of(R"(
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: )" +
                          std::to_string(dram_pj) + R"(, write_pj: )" + std::to_string(dram_pj) + R"(}
  - {memory: Buffer, capacity: )" +
                          std::to_string(buffer) + R"( words, read_pj: 1, write_pj: 1}
  - {fanout: PEs, cols: 2}
  - {memory: Reg, capacity: 1 words, read_pj: 10, write_pj: 10, keeps: [outputs]}
  - {compute: MAC, mac_pj: 0}
)",
                      R"(  dims: {M: 2, N: 2, K: )" + std::to_string(k) + R"(}
  tensors:
    - {name: X, role: inputs, projection: [M, K]}
    - {name: W, role: weights, projection: [K, N]}
    - {name: O, role: outputs, projection: [M, N]}
)");
  task.factorization = Factorization::kRubyS;
  return task;
}

struct Compared {
  int choices = 0, sharp = 0;
};

/// The bound of every choice is at most its least value, and how often it is all but equal.
Compared compare(const Task& task) {
  const Truth truth(task);
  EXPECT_TRUE(truth.complete);
  const ResolvedTask resolved(truth.task, truth.problem);
  ChoiceBounds bounds(resolved);
  Compared compared;
  for (const Choice& choice : truth.choices) {
    const double value = choice.least([](const Priced& m) { return m.value; });
    bounds.look_at(choice.spatial);
    bounds.keeps_below(kInfinity, [&](std::size_t keeps, const ChoiceBounds::Shared& bound) {
      if (bounds.keeps(keeps) != choice.keeps) return;
      EXPECT_TRUE(at_most(bound.value, value)) << bound.value << " " << value;
      ++compared.choices;
      if (bound.value > 0.98 * value) ++compared.sharp;
    });
  }
  return compared;
}

// All outputs stay in the buffer, for that saves what is dear; they do not stay in the register meanwhile, so they come
// again for every tile along K, which is as large as fits: 4 of 8.
TEST(Lemma, OfTheOtherDimsATileMayBeAsLargeAsFits) {
  const Compared compared = compare(product(8, 20, 100));
  EXPECT_GT(compared.choices, 2);
}

TEST(Lemma, TilesOfTheOutermostMemoryWithACapacity) {
  Compared all;
  for (const int k : {4, 6, 8})
    for (const int buffer : {9, 12, 16, 20})
      for (const double dram_pj : {1.0, 10.0, 100.0}) {
        const Compared compared = compare(product(k, buffer, dram_pj));
        all.choices += compared.choices;
        all.sharp += compared.sharp;
      }
  EXPECT_GT(all.choices, 100);
  EXPECT_GT(all.sharp, all.choices / 4);
}

// Few tiles fit into the buffer, so each is completed by itself. A loop over M moves nothing that waits: it comes
// first, and weights are delivered once for all of M.
TEST(Lemma, LoopsThatMoveNothingComeBeforeTheFirstThatDoes) {
  for (const Factorization rule : {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRuby}) {
    Task task = task_of(R"(
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 1, write_pj: 1}
  - {memory: Buffer, capacity: 1 words, read_pj: 1, write_pj: 1, keeps: [weights]}
  - {compute: MAC, mac_pj: 0}
flexibility:
  tiles: {Buffer: {fixed: {M: 1, N: 1, K: 1}}}
)",
                        R"(  dims: {M: 8, N: 8, K: 8}
  tensors:
    - {name: X, role: inputs, projection: [M, K]}
    - {name: W, role: weights, projection: [K, N]}
    - {name: O, role: outputs, projection: [M, N]}
)");
    task.factorization = rule;
    const Truth truth(task);
    ASSERT_TRUE(truth.complete);
    const ResolvedTask resolved(truth.task, truth.problem);
    for (const Choice& choice : truth.choices) {
      Bounded bounded(resolved, choice);
      ASSERT_TRUE(bounded.lattice.build());
      const double least = choice.least([](const Priced& m) { return m.energy; });
      const double limit = least * (1 + 1e-6);
      EXPECT_NEAR(bounded.lattice.solve(bounded.lattice.energy(), limit).best, least, kSame * least);
    }
  }
}

}  // namespace
}  // namespace pliant::exact
