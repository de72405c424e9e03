// SPDX-License-Identifier: Apache-2.0
// What the unrollings of the innermost network say, against every mapping that has them, whatever the other fanouts
// are.
#include "dse/mappers/exact/bounds/innermost_network.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "dse/mappers/exact/bounds/unrolling_bounds.h"
#include "dse/mappers/exact/truth_by_choice.h"

namespace pliant::exact {
namespace {

struct OfNetworks {
  int choices = 0, sharper = 0, by_tiles = 0, near = 0;
};

void compare_networks(const Truth& truth, const ResolvedTask& resolved, OfNetworks& all) {
  ChoiceBounds bounds(resolved);
  InnermostNetwork innermost(resolved, bounds);
  if (!innermost.applies()) return;
  for (const Choice& choice : truth.choices) {
    const double value = choice.least([](const Priced& mapping) { return mapping.value; });
    const double energy = choice.least([](const Priced& mapping) { return mapping.energy; });
    const Spatial partial = innermost.partial(choice.spatial);
    for (const double limit : {kInfinity, value * (1 + 1e-6)}) {
      const auto [least, looked] = bounds.look_at(partial, limit);
      EXPECT_TRUE(at_most(least, value)) << least << " > " << value;
      ASSERT_NE(looked, nullptr);
      bool met = false;
      looked->keeps_below(limit, [&](std::size_t keeps, const SharedBound& bound) {
        if (bounds.keeps(keeps) != choice.keeps) return;
        met = true;
        EXPECT_TRUE(at_most(bound.value, value)) << bound.value << " > " << value;
        EXPECT_TRUE(at_most(bound.energy, energy)) << bound.energy << " > " << energy;
        ++all.choices;
        all.by_tiles += bound.value > least * (1 + kSame) ? 1 : 0;
        all.near += bound.value > 0.8 * value ? 1 : 0;
      });
      EXPECT_TRUE(met);
    }
    const double least = innermost.least(choice.spatial, kInfinity);
    EXPECT_TRUE(at_most(least, value)) << least << " > " << value;
    all.sharper += least > bounds.floor(1) * (1 + kSame) ? 1 : 0;
  }
}

/// A layer on clusters of units, whose memories hold little.
Task on_clusters(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto chance = [&](std::uint64_t of) { return random() % of == 0; };
  const auto between = [&](std::uint64_t a, std::uint64_t b) { return std::to_string(a + random() % (b - a + 1)); };
  const auto memory = [&](const std::string& name, const std::string& words, const std::string& more) {
    return "  - {memory: " + name + ", capacity: " + words + ", read_pj: " + between(1, 8) + ", write_pj: 2" +
           (chance(3) ? ", bandwidth: " + between(1, 3) + " B/cycle" : "") + more + "}\n";
  };
  const bool wires = chance(3);
  const auto fanout = [&](const std::string& name, std::uint64_t most) {
    return "  - {fanout: " + name + ", cols: " + between(2, most) + (chance(4) ? ", multicast: false" : "") +
           (chance(4) ? ", reduction: false" : "") + (wires ? ", pj_per_bit: " + between(1, 4) : "") + "}\n";
  };
  const std::string bypass = ", may_bypass: [inputs, outputs]";
  std::string levels = "word_bits: 8\nlevels:\n" + memory("DRAM", "unbounded", "");
  if (chance(3)) levels += fanout("Chips", 2);
  if (chance(3)) levels += memory("SRAM", between(6, 20) + " words", chance(2) ? bypass : "");
  levels += fanout("Clusters", 3);
  if (!chance(4))
    levels += memory("L1", between(4, 16) + " words", chance(3) ? bypass : "");
  else
    levels += memory("L1", "unbounded", "");
  levels += fanout("PEs", 4);
  if (chance(3))
    levels += memory("WBuf", between(1, 4) + " words", ", keeps: [weights]") +
              memory("OBuf", between(1, 4) + " words", ", keeps: [outputs]") +
              memory("IBuf", between(1, 4) + " words", ", keeps: [inputs]");
  else
    levels += memory("Reg", between(3, 8) + " words", ", keeps: [inputs, weights, outputs]");
  levels += "  - {compute: MAC, mac_pj: 0}\n";
  const bool long_dim = chance(2);
  const auto dim = [&](std::uint64_t most) { return long_dim ? between(1, 2) : between(1, most); };
  const std::string large = long_dim ? between(5, 9) : between(2, 5);
  Task task = task_of(levels, chance(2) ? "  dims: {M: " + dim(3) + ", P: " + large + ", R: " + dim(3) + R"(}
  tensors:
    - {name: X, role: inputs, projection: [P + R]}
    - {name: W, role: weights, projection: [M, R]}
    - {name: O, role: outputs, projection: [M, P]}
)"
                                        : "  dims: {M: " + dim(4) + ", N: " + large + ", K: " + dim(4) + R"(}
  tensors:
    - {name: X, role: inputs, projection: [M, K]}
    - {name: W, role: weights, projection: [K, N]}
    - {name: O, role: outputs, projection: [M, N]}
)");
  const Factorization rules[] = {Factorization::kRubyS, Factorization::kRubyS, Factorization::kRuby,
                                 Factorization::kRubyT};
  task.factorization = rules[random() % 4];
  const Objective objectives[] = {Objective::kEdp, Objective::kEnergy, Objective::kRuntime};
  task.objective = objectives[random() % 3];
  return task;
}

bool several_fanouts(const Task& task) {
  int fanouts = 0;
  for (const Level& level : task.accelerator.levels) fanouts += level.is_fanout() ? 1 : 0;
  return fanouts > 1 && task.factorization != Factorization::kPerfect;
}

TEST(Lemma, UnrollingsOfTheInnermostNetwork) {
  OfNetworks any, clusters;
  for_each_task(
      400, [&](const Truth& truth, const ResolvedTask& resolved) { compare_networks(truth, resolved, any); },
      several_fanouts);
  EXPECT_GT(any.choices, 600);
  EXPECT_GT(any.sharper, any.choices / 10);
  for_each_task(
      400, [&](const Truth& truth, const ResolvedTask& resolved) { compare_networks(truth, resolved, clusters); },
      several_fanouts, on_clusters);
  EXPECT_GT(clusters.choices, 4000);
  EXPECT_GT(clusters.by_tiles, clusters.choices / 10);
  EXPECT_GT(clusters.near, clusters.choices / 10);
}

// Clusters leave remainders: under Ruby-S a memory in them may hold tiles that loops and units inside alone never make.
// Inputs come again with every tile, for a loop over N comes first.
TEST(Lemma, TilesInsideOpenFanoutsAreOfAnySize) {
  OfNetworks all;
  for (int size = 5; size < 14; ++size)
    for (int capacity = 3; capacity < 12; ++capacity)
      for (const char* clusters : {"2", "3"}) {
        Task task = task_of(R"(
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 100, write_pj: 100}
  - {fanout: Clusters, cols: )" +
                                std::string(clusters) +
                                R"(, multicast: false, reduction: false}
  - {memory: L1, capacity: )" + std::to_string(capacity) +
                                R"( words, read_pj: 1, write_pj: 1}
  - {fanout: PEs, cols: 2}
  - {memory: Reg, capacity: 100 words, read_pj: 0, write_pj: 0, keeps: [inputs, weights, outputs]}
  - {compute: MAC, mac_pj: 0}
flexibility:
  orders: {DRAM: [[M, N]]}
  loops: {L1: [M], Reg: []}
  parallel: {Clusters: {rows: [], cols: [M]}, PEs: {rows: [], cols: [M]}}
)",
                            "  dims: {M: " + std::to_string(size) + R"(, N: 2}
  tensors:
    - {name: X, role: inputs, projection: [N]}
    - {name: W, role: weights, projection: [M]}
    - {name: O, role: outputs, projection: [M, N]}
)");
        task.factorization = Factorization::kRubyS;
        task.objective = Objective::kEnergy;
        const Truth truth(task);
        if (!truth.complete) continue;
        compare_networks(truth, ResolvedTask(truth.task, truth.problem), all);
      }
  EXPECT_GT(all.choices, 1000);
  EXPECT_GT(all.by_tiles, 100);
}

}  // namespace
}  // namespace pliant::exact
