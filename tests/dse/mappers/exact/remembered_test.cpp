// SPDX-License-Identifier: Apache-2.0
// Displacements are remembered only where no dim leaves a remainder (docs/dev/proof, L14): what the mapper makes of
// that, against all mappings of small tasks.
#include <gtest/gtest.h>

#include "core/legality.h"
#include "dse/mappers/exact/truth_by_choice.h"
#include "dse/mappers/exact/words/windows.h"
#include "dse/mappers/mapper.h"

namespace pliant::exact {
namespace {

bool remembers(const Task& task) {
  return task.factorization != Factorization::kPerfect && displacement_walks(Problem(task.layer, task.accelerator));
}

bool leaves_a_remainder(const Task& task, const Mapping& mapping) {
  std::vector<Count> product(task.layer.dims.size(), 1);
  for (const LevelMapping& level : mapping.levels) {
    for (const Loop& loop : level.temporal) product[static_cast<std::size_t>(loop.dim)] *= loop.bound;
    for (const SpatialLoop& loop : level.spatial) product[static_cast<std::size_t>(loop.dim)] *= loop.bound;
  }
  for (std::size_t d = 0; d < product.size(); ++d)
    if (product[d] != task.layer.dims[d].size) return true;
  return false;
}

Task any_conventions(std::uint64_t seed) { return tests::campaign_task(tests::kAnyConventions + seed); }

// A mapping that leaves a remainder costs what it costs under the run rule; one that leaves none is a mapping of the
// task with perfect factors.
TEST(Lemma, DisplacementsAreForgottenWhereADimLeavesARemainder) {
  int forgotten = 0, remembered = 0;
  for_each_task(
      120,
      [&](const Truth& truth, const ResolvedTask&) {
        const Task& task = truth.task;
        Task run = task;
        run.accelerator.conventions.halo = Conventions::Halo::kRun;
        for (const Choice& choice : truth.choices)
          for (const Priced& priced : choice.mappings) {
            if (!leaves_a_remainder(task, priced.mapping)) {
              EXPECT_TRUE(check_legality(task.layer, task.accelerator, task.flexibility, Factorization::kPerfect,
                                         priced.mapping)
                              .empty());
              ++remembered;
              continue;
            }
            EXPECT_TRUE(
                check_legality(run.layer, run.accelerator, run.flexibility, run.factorization, priced.mapping).empty());
            const Totals totals = price(run.layer, run.accelerator, priced.mapping).totals;
            EXPECT_NEAR(task_value(run, totals), priced.value, kSame * priced.value);
            EXPECT_NEAR(totals.energy_pj - truth.problem.leak_pj_per_cycle_total * totals.cycles, priced.energy,
                        kSame * priced.energy);
            EXPECT_EQ(totals.cycles, priced.cycles);
            ++forgotten;
          }
      },
      remembers, any_conventions);
  EXPECT_GT(forgotten, 1000);
  EXPECT_GT(remembered, 500);
}

// Both sorts of mappings are the best somewhere, and the certificate covers both.
TEST(Certificates, OfRememberedDisplacementsWithRemainders) {
  int with = 0, without = 0, told_apart = 0;
  for_each_task(
      200,
      [&](const Truth& truth, const ResolvedTask&) {
        const Priced* best = nullptr;
        // Of the best under the run rule the one that costs least.
        Task run = truth.task;
        run.accelerator.conventions.halo = Conventions::Halo::kRun;
        double best_run = kInfinity, of_best_run = kInfinity;
        bool only_with = true;  // are all the best ones with a remainder?
        for (const Choice& choice : truth.choices)
          for (const Priced& priced : choice.mappings) {
            const double value = task_value(run, price(run.layer, run.accelerator, priced.mapping).totals);
            if (value < best_run * (1 - kSame)) of_best_run = kInfinity;
            if (value < best_run * (1 + kSame)) of_best_run = std::min(of_best_run, priced.value);
            best_run = std::min(best_run, value);
            if (best != nullptr && priced.value > best->value * (1 + kSame)) continue;
            const bool remainder = leaves_a_remainder(truth.task, priced.mapping);
            if (best == nullptr || priced.value < best->value * (1 - kSame)) only_with = true;
            only_with &= remainder;
            if (best == nullptr || priced.value < best->value) best = &priced;
          }
        const SearchResult found = make_mapper("exact")->search(truth.task, {});  // no claim under mixed conventions
        if (truth.task.accelerator.hints.min_utilization > 0) return;
        EXPECT_TRUE(found.certified);
        EXPECT_NEAR(found.value, best->value, kSame * best->value);
        (only_with ? with : without) += 1;
        told_apart += of_best_run > best->value * (1 + kSame) ? 1 : 0;
      },
      remembers, any_conventions);
  EXPECT_GT(with, 5);
  EXPECT_GT(without, 5);
  EXPECT_GT(told_apart, 0);  // else the run rule alone would do
}

}  // namespace
}  // namespace pliant::exact
