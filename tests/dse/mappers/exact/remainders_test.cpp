// SPDX-License-Identifier: Apache-2.0
// Bounds that only remainders need (docs/proof.md, lemmas 3 and 5), each against all mappings of a choice: what first
// arrivals of outputs save, and windows of which the last is short.
#include <gtest/gtest.h>

#include "dse/mappers/exact/truth_by_choice.h"
#include "dse/mappers/exact/words_of_transfers.h"

namespace pliant::exact {
namespace {

bool has_remainders(const Task& task) { return task.factorization != Factorization::kPerfect; }

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
  int bounded_together = 0, sharper = 0;
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
                sharper += at_most(bound, bounded.lattice.solve(apart, kInfinity).best) ? 0 : 1;
              }
            }
          });
        }
      },
      has_remainders);
  EXPECT_GT(bounded_together, 300);
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

}  // namespace
}  // namespace pliant::exact
