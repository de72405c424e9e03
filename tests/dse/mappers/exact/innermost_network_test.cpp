// SPDX-License-Identifier: Apache-2.0
// What the unrollings of the innermost network say, against every mapping that has them, whatever the other fanouts
// are.
#include "dse/mappers/exact/bounds/innermost_network.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "dse/mappers/exact/bounds/unrolling_bounds.h"
#include "dse/mappers/exact/truth_by_choice.h"

namespace pliant::exact {
namespace {

struct Compared {
  int choices = 0, sharper = 0, by_tiles = 0, near = 0;
};

void compare(const Truth& truth, const ResolvedTask& resolved, Compared& all) {
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
  const auto between = [&](std::uint64_t a, std::uint64_t b) { return std::to_string(a + random() % (b - a + 1)); };
  const auto network = [&] {
    const char* const kinds[] = {"", "", ", multicast: false", ", reduction: false",
                                 ", multicast: false, reduction: false"};
    return std::string(kinds[random() % 5]);
  };
  const bool split = random() % 3 == 0, window = random() % 2 == 0, three = random() % 3 == 0;
  const std::string port = random() % 2 == 0 ? ", bandwidth: 1 B/cycle" : "";
  Task task =
      task_of("word_bits: 8\nlevels:\n  - {memory: DRAM, capacity: unbounded, read_pj: 8, write_pj: 8" +
                  std::string(random() % 2 == 0 ? ", bandwidth: 2 B/cycle" : "") + "}\n" +
                  (three ? "  - {fanout: Chips, cols: 2" + network() + "}\n" : "") +
                  "  - {fanout: Clusters, cols: " + between(2, 3) + network() +
                  "}\n  - {memory: L1, capacity: " + between(4, 16) + " words, read_pj: 2, write_pj: 2" + port +
                  (random() % 3 == 0 ? ", may_bypass: [inputs, outputs]" : "") +
                  "}\n  - {fanout: PEs, cols: " + between(2, 4) + network() + "}\n" +
                  (split ? "  - {memory: WBuf, capacity: " + between(1, 4) +
                               " words, read_pj: 1, write_pj: 1, keeps: [weights]}\n  - {memory: OBuf, capacity: " +
                               between(1, 4) +
                               " words, read_pj: 1, write_pj: 1, keeps: [outputs]}\n  - {memory: IBuf, capacity: " +
                               between(1, 4) + " words, read_pj: 1, write_pj: 1, keeps: [inputs]}\n"
                         : "  - {memory: Reg, capacity: " + between(3, 8) +
                               " words, read_pj: 1, write_pj: 1, keeps: [inputs, weights, outputs]}\n") +
                  "  - {compute: MAC, mac_pj: 0}\n",
              window ? "  dims: {M: " + between(1, 3) + ", P: " + between(2, 5) + ", R: " + between(1, 3) + R"(}
  tensors:
    - {name: X, role: inputs, projection: [P + R]}
    - {name: W, role: weights, projection: [M, R]}
    - {name: O, role: outputs, projection: [M, P]}
)"
                     : "  dims: {M: " + between(1, 4) + ", N: " + between(1, 5) + ", K: " + between(1, 4) + R"(}
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
  Compared any, clusters;
  for_each_task(
      400, [&](const Truth& truth, const ResolvedTask& resolved) { compare(truth, resolved, any); }, several_fanouts);
  EXPECT_GT(any.choices, 600);
  EXPECT_GT(any.sharper, any.choices / 10);
  for_each_task(
      400, [&](const Truth& truth, const ResolvedTask& resolved) { compare(truth, resolved, clusters); },
      several_fanouts, on_clusters);
  EXPECT_GT(clusters.choices, 4000);
  EXPECT_GT(clusters.by_tiles, clusters.choices / 10);
  EXPECT_GT(clusters.near, clusters.choices / 10);
  if (testing::Test::HasFailure() || std::getenv("PLIANT_TELL") != nullptr)
    for (const Compared& all : {any, clusters})
      printf("%d choices, %d sharper, %d by tiles, %d near\n", all.choices, all.sharper, all.by_tiles, all.near);
}

}  // namespace
}  // namespace pliant::exact
