// SPDX-License-Identifier: Apache-2.0
// Bounds that only remainders need (docs/dev/proof, L3, L5 and L9), each against all mappings of a choice: what
// first arrivals of outputs save, windows of which the last is short, and which bounds in time are walked.
#include <gtest/gtest.h>

#include "core/legality.h"
#include "dse/mappers/exact/truth_by_choice.h"
#include "dse/mappers/exact/words_of_transfers.h"

namespace pliant::exact {
namespace {

bool has_remainders(const Task& task) { return task.factorization != Factorization::kPerfect; }

bool has_remainders_or_windows(const Task& task) {
  const Problem problem(task.layer, task.accelerator);
  return has_remainders(task) || !problem.affine[problem.output].empty();
}

/// Calls visit(index of its weights, {tensor, parent, child}) for every transfer of a choice.
template <class F>
void for_each_transfer(const Truth& truth, const ResolvedTask& resolved, const Choice& choice, F visit) {
  std::size_t i = 0;
  for (int x = 0; x < truth.problem.tensors; ++x) {
    int child = truth.problem.levels;
    for (const int l : resolved.memories) {
      if (!(choice.keeps[static_cast<std::size_t>(l)] >> x & 1U)) continue;
      visit(i++, std::array<int, 3>{x, l, child});
      child = l;
    }
  }
}

// Words of a transfer of outputs less its first arrivals, at the parent and at the child, with three weights of either.
TEST(Lemma, SumsThatBeginAtACopyLeaveIt) {
  int bounded_together = 0, sharper = 0, windows = 0;
  for_each_task(
      400,
      [&](const Truth& truth, const ResolvedTask& resolved) {
        for (const Choice& choice : truth.choices) {
          Bounded bounded(resolved, choice);
          ASSERT_TRUE(bounded.lattice.build());
          const Costs costs(resolved, choice.spatial);
          const std::size_t count = bounded.lattice.energy().weights.size();
          for_each_transfer(truth, resolved, choice, [&](std::size_t i, const std::array<int, 3>& key) {
            if (!costs.bounds_begun({key[0], key[1], key[2]})) return;
            for (const bool parent : {true, false}) {
              for (const double first : {0.5, 1.0, 2.0}) {
                Functional net;
                net.weights.resize(count);
                (parent ? net.weights[i].served : net.weights[i].delivered) = 1;
                Functional apart = net;
                (parent ? net.weights[i].first_parent : net.weights[i].first_child) = -first;
                net.constant = -first * costs.first_arrivals(parent ? key[1] : key[2]);
                apart.constant = net.constant;
                const double least = choice.least([&](const Priced& m) {
                  const Transfer& words = m.words.at(key);
                  return parent ? words.served - first * words.first_parent
                                : words.delivered - first * words.first_child;
                });
                const double bound = bounded.lattice.solve(net, kInfinity).best;
                EXPECT_TRUE(at_most(bound, least)) << bound << " " << least;
                EXPECT_TRUE(at_most(bounded.lattice.least(net), least)) << bounded.lattice.least(net) << " " << least;
                ++bounded_together;
                windows += truth.problem.affine[truth.problem.output].empty() ? 0 : 1;
                sharper += at_most(bound, bounded.lattice.solve(apart, kInfinity).best) ? 0 : 1;
              }
            }
          });
        }
      },
      has_remainders_or_windows);
  EXPECT_GT(bounded_together, 300);
  EXPECT_GT(windows, 100);
  EXPECT_GT(sharper, 10);  // than words and first arrivals bounded each for itself
}

// However short the last window is: the words of a transfer are at least the elements of its tensor.
TEST(Lemma, EveryValueOfAWindowComesOnce) {
  int windows = 0;
  for_each_task(
      400,
      [&](const Truth& truth, const ResolvedTask& resolved) {
        if (truth.problem.conventions.footprint != Conventions::Footprint::kDistinct) return;
        for (const Choice& choice : truth.choices) {
          Bounded bounded(resolved, choice);
          ASSERT_TRUE(bounded.lattice.build());
          const std::size_t count = bounded.lattice.energy().weights.size();
          for_each_transfer(truth, resolved, choice, [&](std::size_t i, const std::array<int, 3>& key) {
            const auto x = static_cast<std::size_t>(key[0]);
            if (truth.problem.affine[x].empty() || key[2] == truth.problem.levels) return;
            for (const bool served : {true, false}) {
              Functional words;
              words.weights.resize(count);
              (served ? words.weights[i].served : words.weights[i].delivered) = 1;
              const double bound = bounded.lattice.solve(words, kInfinity).best;
              const double least = choice.least(
                  [&](const Priced& m) { return served ? m.words.at(key).served : m.words.at(key).delivered; });
              EXPECT_TRUE(at_most(truth.problem.tensor_words[x], bound)) << bound;
              EXPECT_TRUE(at_most(bound, least)) << bound << " " << least;
              ++windows;
            }
          });
        }
      },
      has_remainders);
  EXPECT_GT(windows, 100);
}

/// A mapping with the smallest bound at one place that leaves the loops outside it the same iterations; nothing where
/// there is no smaller one.
std::optional<Mapping> with_smallest_bound(const Truth& truth, const Mapping& mapping, std::size_t level,
                                           std::size_t loop) {
  const int d = mapping.levels[level].temporal[loop].dim;
  Count left = truth.task.layer.dims[static_cast<std::size_t>(d)].size;
  for (std::size_t l = mapping.levels.size() - 1; l > level; --l) {
    for (const Loop& inside : mapping.levels[l].temporal)
      if (inside.dim == d) left = ceil_div(left, inside.bound);
    for (const Side side : {Side::kCols, Side::kRows})
      for (const SpatialLoop& inside : mapping.levels[l].spatial)
        if (inside.dim == d && inside.side == side) left = ceil_div(left, inside.bound);
  }
  Mapping changed = mapping;
  Count& bound = changed.levels[level].temporal[loop].bound;
  const Count smallest = ceil_div(left, ceil_div(left, bound));
  if (smallest == bound) return std::nullopt;
  bound = smallest;
  return changed;
}

/// Tasks in which a wider bound is the better one, by what counts besides iterations: shares of a box are dealt by
/// tiles, and where the parent's writes drain the child a word that is served more often is drained less.
std::vector<Task> where_the_smallest_will_not_do() {
  std::vector<Task> tasks;
  for (const char* m : {"4", "5", "6"})
    tasks.push_back(task_of(R"(
conventions: {preset: physical, footprint: bounding-box}
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 1}
  - {fanout: PEs, cols: 2}
  - {memory: Reg, capacity: unbounded, read_pj: 1}
  - {compute: MAC, mac_pj: 0}
)",
                            "  dims: {M: " + std::string(m) + R"(, C: 2, Q: 1, S: 1}
  tensors:
    - {name: W, role: weights, projection: [C]}
    - {name: O, role: outputs, projection: [M, "Q + S"]}
)"));
  tasks.push_back(task_of(R"(
conventions: {preset: physical, drain: parent-writes}
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 0}
  - {memory: Buffer, capacity: unbounded, keeps: [outputs], read_pj: 0}
  - {fanout: PEs, cols: 2}
  - {memory: Weights, capacity: unbounded, keeps: [weights], read_pj: 0}
  - {memory: Sums, capacity: unbounded, keeps: [outputs], read_pj: 1, write_pj: 0}
  - {compute: MAC, mac_pj: 0}
flexibility:
  loops: {DRAM: [B, M], Buffer: [M], Weights: [C, M], Sums: []}
  parallel: {PEs: {rows: [], cols: [C]}}
)",
                          R"(  dims: {M: 4, C: 4, B: 2}
  tensors:
    - {name: W, role: weights, projection: [C, B]}
    - {name: O, role: outputs, projection: [M]}
)"));
  for (Task& task : tasks) task.factorization = Factorization::kRubyT;
  return tasks;
}

// With remainders in time not every bound is walked. Where the smallest of those that leave the same will do, it costs
// no more energy and takes no more cycles, whatever the rest of the mapping is.
TEST(Lemma, OfBoundsThatLeaveTheSameTheSmallestWillDo) {
  int replaced = 0, boxes = 0;
  const auto check = [&](const Truth& truth, const ResolvedTask& resolved) {
    for (const Choice& choice : truth.choices)
      for (const Priced& priced : choice.mappings)
        for (std::size_t l = 0; l < priced.mapping.levels.size(); ++l)
          for (std::size_t i = 0; i < priced.mapping.levels[l].temporal.size(); ++i) {
            const int d = priced.mapping.levels[l].temporal[i].dim;
            const bool box = truth.problem.conventions.footprint == Conventions::Footprint::kBoundingBox;
            if (!smallest_bound_will_do(resolved.rules, truth.problem, choice.spatial, d)) continue;
            const std::optional<Mapping> smaller = with_smallest_bound(truth, priced.mapping, l, i);
            if (!smaller) continue;
            ++replaced;
            boxes += box ? 1 : 0;
            const Task& t = truth.task;
            EXPECT_TRUE(check_legality(t.layer, t.accelerator, t.flexibility, t.factorization, *smaller).empty());
            const Totals totals = price(t.layer, t.accelerator, *smaller).totals;
            EXPECT_TRUE(
                at_most(totals.energy_pj - truth.problem.leak_pj_per_cycle_total * totals.cycles, priced.energy));
            EXPECT_TRUE(at_most(totals.cycles, priced.cycles)) << totals.cycles << " " << priced.cycles;
          }
  };
  const auto loops_round = [](const Task& task) {
    const Conventions& by = task.accelerator.conventions;
    return (task.factorization == Factorization::kRubyT || task.factorization == Factorization::kRuby) &&
           by.stall_rounding == Conventions::StallRounding::kExact &&
           by.compute_reuse == Conventions::ComputeReuse::kNone;
  };
  for_each_task(150, check, loops_round);
  for_each_task(400, check, loops_round,
                [](std::uint64_t seed) { return tests::campaign_task(tests::kAnyConventions + seed); });
  EXPECT_GT(replaced, 500);
  EXPECT_GT(boxes, 50);
  for (const Task& task : where_the_smallest_will_not_do()) {
    const Truth truth(task);
    ASSERT_TRUE(truth.complete);
    check(truth, ResolvedTask(truth.task, truth.problem));
  }
}

}  // namespace
}  // namespace pliant::exact
