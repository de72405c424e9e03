// SPDX-License-Identifier: Apache-2.0
// Timeloop's memory of displacements (docs/dev/proof, L5) in nests of which rules leave few mappings each, so that
// a charge which is too high along one order of loops finds no other order to hide behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "dse/mappers/exact/words_of_transfers.h"
#include "support/draw.h"

namespace pliant::exact {
namespace {

/// X has windows at Reg. Loops of L1 move them inside the units, those of L2 and DRAM outside. Orders are drawn, and so
/// are the tiles of Reg and L1 along the dims of the window. One in four has units along P and single words at Reg, one
/// in four an X whose indices both use P.
Task drawn_task(std::uint64_t seed, const std::string& halo) {
  tests::Draw draw(seed);
  const auto number = [&](const std::vector<Count>& of) { return std::to_string(draw.of(of)); };
  const bool split = seed % 4 == 0, shared = seed % 4 == 1;
  const std::vector<Count> sizes{2, 4, 6, 8, 12}, kernels{2, 3, 4}, long_sizes{8, 12, 16};
  const Count p = draw.of(split ? long_sizes : sizes), r = shared ? 3 : draw.of(kernels);
  const std::string footprint = draw.chance(0.7) ? "bounding-box" : "distinct";
  const std::string units = number({1, 2, 2, 4}), c = number({1, 1, 2}), k = number({1, 2, 3});
  const bool two_ranks = !split && draw.chance(0.3);
  const std::string q = two_ranks && !shared ? "2" : "1", s = shared ? "3" : two_ranks ? "2" : "1";
  Task task = task_of("conventions: {preset: timeloop, footprint: " + footprint + ", halo: " + halo + R"(}
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 1}
  - {memory: L2, capacity: unbounded, keeps: [outputs], read_pj: 1}
  - {fanout: PEs, cols: )" +
                          units +
                          R"(}
  - {memory: L1, capacity: unbounded, keeps: [outputs], read_pj: 1}
  - {memory: Reg, capacity: unbounded, keeps: [inputs], read_pj: 1}
  - {compute: MAC, mac_pj: 0}
)",
                      "  dims: {P: " + std::to_string(p) + ", R: " + std::to_string(r) + ", C: " + c + ", K: " + k +
                          ", Q: " + q + ", S: " + s + R"(}
  tensors:
    - {name: X, role: inputs, projection: [C, ")" +
                          number({1, 1, 2, 3}) + "*P + " + number({1, 1, 2, 3}) + R"(*R", "Q + S"]}
    - {name: O, role: outputs, projection: [K]}
)");
  if (shared) task.layer.tensors[0].ranks[2].terms.push_back({0, 1});  // readers ask for one index of each dim
  if (split) task.flexibility.levels[2].parallel.assignments = {{{}, {"P"}}};
  std::vector<std::string> dims{"P", "R", "C", "K", "Q", "S"};
  for (const std::size_t l : {0, 1, 3, 4}) {
    draw.shuffle(dims);
    task.flexibility.levels[l].order.allowed = {{dims, std::nullopt}};
  }
  const auto divisor = [&](Count of) {
    Count found = draw.from(1, of);
    while (of % found != 0) found = draw.from(1, of);
    return found;
  };
  const Count inner_p = split ? 1 : divisor(p), inner_r = split || shared ? 1 : divisor(r);
  task.flexibility.levels[4].tile.fixed = {{"P", inner_p}, {"R", inner_r}, {"C", 1}, {"K", 1}, {"Q", 1}, {"S", 1}};
  task.flexibility.levels[3].tile.fixed = {{"P", inner_p * divisor(p / inner_p)},
                                           {"R", inner_r * divisor(r / inner_r)}};
  return task;
}

/// Counts also the transfers whose words the tables know exactly.
void compare_drawn(const std::string& halo, std::uint64_t first, int& tasks, int& transfers, int& exact) {
  const std::uint64_t times = from_environment("PLIANT_TIMES", 1);
  for (std::uint64_t seed = first; seed < first + 400 * times; ++seed) {
    const Task task = drawn_task(seed, halo);
    const Truth truth(task);
    if (!truth.complete) continue;
    ++tasks;
    const ResolvedTask resolved(truth.task, truth.problem);
    SCOPED_TRACE(halo + ", seed " + std::to_string(seed));
    for (const Choice& choice : truth.choices) {
      Bounded bounded(resolved, choice);
      ASSERT_TRUE(bounded.lattice.build());
      Functional words;
      words.weights.resize(bounded.lattice.energy().weights.size());
      words.weights[1].delivered = 1;  // to Reg: what comes from there to the units is the first transfer of X
      const double bound = bounded.lattice.solve(words, kInfinity).best;
      const double least = choice.least([](const Priced& m) { return m.words.at({0, 0, 4}).delivered; });
      EXPECT_TRUE(at_most(bound, least)) << bound << " of " << least;
      words.weights[1] = {};
      words.weights[1].served = 1;
      const double served = bounded.lattice.solve(words, kInfinity).best;
      const double least_served = choice.least([](const Priced& m) { return m.words.at({0, 0, 4}).served; });
      EXPECT_TRUE(at_most(served, least_served)) << "served: " << served << " of " << least_served;
      ++transfers;
      exact += bound >= least * (1 - kSame) ? 1 : 0;
    }
  }
}

TEST(Lemma, LoopsFurtherOutBringWholeWindowsUnlessTheDisplacementIsKnown) {
  int tasks = 0, transfers = 0, exact = 0;
  compare_drawn("displacement", from_environment("PLIANT_SEED", 1), tasks, transfers, exact);
  EXPECT_GT(tasks, 300);
  EXPECT_GT(exact, transfers / 3);
}

// A shortcut that walks two iterations of each loop knows other displacements: there less is certain.
TEST(Lemma, LoopsThatDoNotSlideBringWholeWindowsWhateverIsRemembered) {
  int tasks = 0, transfers = 0, exact = 0;
  compare_drawn("two-iterations", from_environment("PLIANT_SEED", 900600), tasks, transfers, exact);
  EXPECT_GT(tasks, 300);
  EXPECT_GT(exact, transfers / 6);
}

}  // namespace
}  // namespace pliant::exact
