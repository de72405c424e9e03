// SPDX-License-Identifier: Apache-2.0
// A search that ends at any time has a mapping.
#include "dse/mappers/exact/search/first_mapping.h"

#include <gtest/gtest.h>

#include "core/input/load.h"
#include "core/legality.h"
#include "costmodel/report.h"
#include "dse/mappers/exact/search/uneven_units.h"
#include "support/campaign_cases.h"
#include "support/counted_clock.h"

namespace pliant::exact {
namespace {

/// 132 processors of four arrays of 16 x 32: unrollings are tens of millions.
Task on_large_chip(Factorization factorization) {
  Task task;
  task.accelerator = parse_accelerator_text(Library(PLIANT_SOURCE_DIR "/configs"),
                                            "pliant: accelerator\nname: large\nlevels:\n"
                                            "  - {memory: HBM, capacity: unbounded, read_pj: 100, write_pj: 100}\n"
                                            "  - {memory: L2, capacity: 16 MiB, read_pj: 12, write_pj: 12}\n"
                                            "  - {fanout: SMs, cols: 132}\n"
                                            "  - {memory: Smem, capacity: 128 KiB, read_pj: 3, write_pj: 3}\n"
                                            "  - {fanout: Quarters, cols: 4}\n"
                                            "  - {memory: Reg, capacity: 16 KiB, read_pj: 0.5, write_pj: 0.5}\n"
                                            "  - {fanout: Lanes, rows: 16, cols: 32}\n"
                                            "  - {compute: MAC, mac_pj: 0.3}\n",
                                            "large.yaml");
  task.layer = parse_layer("conv:M=256,C=256,P=28,Q=28,R=3,S=3,B=64,stride=2", "test");
  task.flexibility = task.accelerator.flexibility_of(task.layer);
  task.factorization = factorization;
  return task;
}

TEST(FirstMapping, ASearchThatEndsAtAnyTimeHasOne) {
  for (const Factorization factorization :
       {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRubyT, Factorization::kRuby})
    for (const double looks : {1.0, 30.0, 1000.0}) {
      SCOPED_TRACE(to_string(factorization));
      const Task task = on_large_chip(factorization);
      const tests::CountedClock clock;
      SearchOptions options;
      options.clock = &clock;
      options.budget.seconds = looks;
      const SearchResult result = run_mapper(*make_mapper("exact"), task, options);
      EXPECT_EQ(result.ended_by, EndedBy::kBudget);
      ASSERT_TRUE(result.mapping);
      EXPECT_GT(result.lower_bound, 0);
      EXPECT_LE(result.lower_bound, result.value);
    }
}

TEST(FirstMapping, UsesTheUnitsAndPricesFewMappings) {
  Task task = on_large_chip(Factorization::kPerfect);
  task.objective = Objective::kRuntime;
  SearchLimits limits{SearchOptions{}};
  const Incumbent found = first_mapping(task, kMostOfFirst, limits);
  ASSERT_TRUE(found.mapping);
  EXPECT_LE(limits.priced, kMostOfFirst + 200);  // orders of one more
  EXPECT_GT(found.totals.utilization, 0.5);
}

// Without remainders prime sizes use one unit of the chip. Remainders fill it, with few mappings for each tenth gained.
TEST(FirstMapping, PrimeSizesFillTheChipWithRemainders) {
  for (const char* layer : {"gemm:M=1009,N=1013,K=4099", "gemm:M=8191,N=127,K=8191"}) {
    SCOPED_TRACE(layer);
    Task task = on_large_chip(Factorization::kRubyS);
    task.layer = parse_layer(layer, "test");
    task.flexibility = task.accelerator.flexibility_of(task.layer);
    task.objective = Objective::kRuntime;
    SearchLimits limits{SearchOptions{}};
    const Incumbent whole = first_mapping(task, kMostOfFirstInHaste, limits);
    ASSERT_TRUE(whole.mapping);
    EXPECT_LT(whole.totals.utilization, 0.02);
    limits.priced = 0;
    const Incumbent found =
        with_uneven_units(task, Problem(task.layer, task.accelerator), whole, kMostOfFirstInHaste, limits);
    EXPECT_GT(found.totals.utilization, 0.5);
    EXPECT_LT(limits.priced, 10 * kMostOfFirstInHaste);
  }
}

TEST(FirstMapping, WithUnevenUnitsIsLegalAndPricedRight) {
  int better = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    Task task = tests::campaign_task(seed);
    task.factorization = Factorization::kRubyS;
    SearchLimits limits{SearchOptions{}};
    const Incumbent start = first_mapping(task, kMostOfFirstInHaste, limits);
    if (!start.mapping) continue;
    const Incumbent found = with_uneven_units(task, Problem(task.layer, task.accelerator), start, 200, limits);
    EXPECT_LE(found.value, start.value) << seed;
    better += found.value < start.value;
    EXPECT_TRUE(
        check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, *found.mapping).empty());
    const Totals totals = price(task.layer, task.accelerator, *found.mapping).totals;
    EXPECT_NEAR(task_value(task, totals) / found.value, 1, 1e-9) << seed;
  }
  EXPECT_GT(better, 50);
}

// Whatever the task: what it finds is legal, priced right, and not better than the optimum.
TEST(FirstMapping, IsLegalAndPricedRight) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Task task = tests::campaign_task(seed);
    SearchLimits limits{SearchOptions{}};
    const Incumbent first = first_mapping(task, kMostOfFirstInHaste, limits);
    if (!first.mapping) continue;
    ++found;
    EXPECT_TRUE(
        check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, *first.mapping).empty());
    const Totals totals = price(task.layer, task.accelerator, *first.mapping).totals;
    EXPECT_NEAR(task_value(task, totals) / first.value, 1, 1e-9) << seed;
  }
  EXPECT_GT(found, 100);
}

}  // namespace
}  // namespace pliant::exact
