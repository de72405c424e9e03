// SPDX-License-Identifier: Apache-2.0
// Tiles of one memory with a capacity, and what they cost further in.
#include <gtest/gtest.h>

#include <array>

#include "dse/mappers/exact/bounds/unrolling_bounds.h"
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
  double ratios = 0;  // of bounds to values
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
    const auto looked = bounds.look_at(choice.spatial).bounds;
    if (looked == nullptr) continue;
    looked->keeps_below(kInfinity, [&](std::size_t keeps, const SharedBound& bound) {
      if (bounds.keeps(keeps) != choice.keeps) return;
      EXPECT_TRUE(at_most(bound.value, value)) << bound.value << " " << value;
      ++compared.choices;
      const double just_above = value * (1 + 1e-6);
      looked->keeps_below(just_above, [&](std::size_t other, const SharedBound& again) {
        if (other != keeps) return;
        EXPECT_TRUE(at_most(again.value, value)) << again.value << " " << value;
      });
      compared.ratios += bound.value / value;
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

/// Windows along P on units with a memory for each operand: two of the three tensors go past the weights' memory.
Task windows_on_split_memories(const std::string& dims, int weights, int inputs, int outputs,
                               const std::string& dram_port) {
  Task task = task_of(R"(
word_bits: 8
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 8, write_pj: 1)" +
                          dram_port + R"(}
  - {fanout: PEs, cols: 2}
  - {memory: WBuf, capacity: )" +
                          std::to_string(weights) + R"( words, read_pj: 1, write_pj: 1, keeps: [weights]}
  - {memory: IBuf, capacity: )" +
                          std::to_string(inputs) + R"( words, read_pj: 1, write_pj: 1, keeps: [inputs]}
  - {memory: OBuf, capacity: )" +
                          std::to_string(outputs) + R"( words, read_pj: 1, write_pj: 1, keeps: [outputs]}
  - {compute: MAC, mac_pj: 0}
)",
                      "  dims: {" + dims + R"(}
  tensors:
    - {name: X, role: inputs, projection: [P + R]}
    - {name: W, role: weights, projection: [M, R, G]}
    - {name: O, role: outputs, projection: [M, P]}
)");
  task.factorization = Factorization::kRubyS;
  return task;
}

// Inputs go past the weights' memory, and outputs past two. Where they do not fit into their own beside a tile, they
// come again with every tile; with a port that binds, energy and load are those of one tile.
TEST(Lemma, TilesOfAMemoryThatOtherTensorsGoPast) {
  Compared all;
  for (const char* dims :
       {"M: 3, P: 3, R: 2, G: 1", "M: 2, P: 5, R: 2, G: 1", "M: 5, P: 2, R: 2, G: 1", "M: 2, P: 2, R: 1, G: 2"})
    for (const int weights : {1, 2, 3, 4, 6})
      for (const int inputs : {1, 2, 3, 4})
        for (const int outputs : {1, 2, 3})
          for (const char* port : {"", ", read_bandwidth: 0.5 B/cycle, write_bandwidth: 0.2 B/cycle"}) {
            const Compared compared = compare(windows_on_split_memories(dims, weights, inputs, outputs, port));
            all.choices += compared.choices;
            all.ratios += compared.ratios;
          }
  EXPECT_GT(all.choices, 1000);
  EXPECT_GT(all.ratios / all.choices, 0.9225);  // 0.9211 without tiles of the inputs' memory
}

/// A product of matrices on two clusters, each with a memory that its units share.
Task product_on_clusters(const std::string& dims, int cluster, int unit, const std::string& network) {
  return task_of(R"(
word_bits: 8
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 8, write_pj: 8}
  - {fanout: Clusters, cols: 2}
  - {memory: L1, capacity: )" +
                     std::to_string(cluster) + R"( words, read_pj: 2, write_pj: 2, bandwidth: 1 B/cycle}
  - {fanout: PEs, cols: 3)" +
                     network + R"(}
  - {memory: Reg, capacity: )" +
                     std::to_string(unit) + R"( words, read_pj: 1, write_pj: 1}
  - {compute: MAC, mac_pj: 0}
)",
                 "  dims: {" + dims + R"(}
  tensors:
    - {name: X, role: inputs, projection: [M, K]}
    - {name: W, role: weights, projection: [K, N]}
    - {name: O, role: outputs, projection: [M, N]}
)");
}

Compared compare_on_clusters(Factorization rule, int cluster, int unit, const std::string& network) {
  Compared all;
  for (const char* dims : {"M: 4, N: 2, K: 1", "M: 2, N: 5, K: 1", "M: 1, N: 3, K: 4", "M: 3, N: 2, K: 2",
                           "M: 2, N: 2, K: 2", "M: 1, N: 6, K: 2", "M: 1, N: 8, K: 2"}) {
    Task task = product_on_clusters(dims, cluster, unit, network);
    task.factorization = rule;
    const Compared compared = compare(task);
    all.choices += compared.choices;
    all.ratios += compared.ratios;
  }
  return all;
}

constexpr std::array<Factorization, 3> kEveryRule = {Factorization::kPerfect, Factorization::kRubyS,
                                                     Factorization::kRuby};

// Where a network does not multicast or reduce, every unit asks its cluster's memory for words of its own, which loads
// the memory's port.
TEST(Lemma, UnitsUnderNetworksThatShareNothingAskEachForItself) {
  Compared all;
  for (const Factorization rule : kEveryRule)
    for (const char* network : {", multicast: false", ", reduction: false", ", multicast: false, reduction: false"}) {
      const Compared compared = compare_on_clusters(rule, 100, 6, network);
      all.choices += compared.choices;
      all.ratios += compared.ratios;
    }
  EXPECT_GT(all.choices, 100);
  EXPECT_GT(all.ratios / all.choices, 0.99);  // 0.919 where they ask together
}

// What the units hold together must fit into the memory that they share.
TEST(Lemma, TilesFitIntoTheMemoriesOutsideAsWell) {
  Compared all;
  for (const Factorization rule : kEveryRule)
    for (const int cluster : {7, 9, 12}) {
      const Compared compared = compare_on_clusters(rule, cluster, 12, "");
      all.choices += compared.choices;
      all.ratios += compared.ratios;
    }
  EXPECT_GT(all.choices, 100);
  EXPECT_GT(all.ratios / all.choices, 0.99);  // 0.9891 without
}

// Inputs come again for every tile along N, as large as what two units need fits into the memory outside: just.
TEST(Lemma, TilesThatJustFitIntoTheMemoryOutside) {
  Compared all;
  for (const Factorization rule : kEveryRule)
    for (int cluster = 5; cluster < 20; ++cluster) {
      Task task = task_of(R"(
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 0, write_pj: 0}
  - {memory: L1, capacity: )" +
                              std::to_string(cluster) +
                              R"( words, read_pj: 1, write_pj: 1}
  - {fanout: PEs, cols: 2}
  - {memory: Reg, capacity: 100 words, read_pj: 0, write_pj: 0}
  - {compute: MAC, mac_pj: 0}
)",
                          R"(  dims: {N: 8, K: 4}
  tensors:
    - {name: X, role: inputs, projection: [K]}
    - {name: W, role: weights, projection: [K, N]}
    - {name: O, role: outputs, projection: [N]}
)");
      task.factorization = rule;
      const Compared compared = compare(task);
      all.choices += compared.choices;
      all.sharp += compared.sharp;
    }
  EXPECT_GT(all.choices, 100);
  EXPECT_GT(all.sharp, all.choices / 2);
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
