// SPDX-License-Identifier: Apache-2.0
// What remainders could gain at most, against what they do gain.
#include <gtest/gtest.h>

#include "core/input/load.h"
#include "dse/mappers/idle_units.h"
#include "support/random_cases.h"
#include "support/shipped_library.h"

namespace pliant {
namespace {

TEST(IdleUnits, OfAProcessorWhoseUnitsDivideNothing) {
  // 12 x 11 processors: of powers of two 8 x 8 of them work.
  Task task;
  task.accelerator = parse_accelerator_text(library(), R"(
pliant: accelerator
name: gpu
levels:
  - {memory: HBM, capacity: unbounded, read_pj: 1}
  - {fanout: SMs, rows: 12, cols: 11}
  - {memory: Reg, capacity: 3, read_pj: 1}
  - {compute: MAC, mac_pj: 1}
flexibility: {parallel: {SMs: {max_dims_per_side: 1}}}
)",
                                            "gpu.yaml");
  task.layer = make_gemm("gemm", {.M = 4096, .N = 4096, .K = 64});
  task.flexibility = task.accelerator.flexibility;
  task.objective = Objective::kRuntime;
  const SearchResult found = run_mapper(*make_mapper("exact"), task, {});
  const auto idle = idle_units(task, *found.mapping, found.totals);
  ASSERT_TRUE(idle);
  EXPECT_DOUBLE_EQ(idle->share, 1 - 64.0 / 132);
  EXPECT_DOUBLE_EQ(idle->gain_at_most(), 132.0 / 64);
  EXPECT_EQ(idle_text(*idle),
            "perfect factors leave 52 % of the units idle; with `--factorization ruby-s` at most 2.06 times as fast");
  // A layer of eight products cannot use more units, and one that waits for its port gains nothing by more of them.
  task.layer = make_gemm("dot", {.M = 8, .N = 1, .K = 1});
  const SearchResult few = run_mapper(*make_mapper("exact"), task, {});
  EXPECT_FALSE(idle_units(task, *few.mapping, few.totals));
  task.layer = make_gemm("row", {.M = 256, .N = 1, .K = 1});
  task.accelerator.levels[0].memory().bandwidth_of[static_cast<std::size_t>(Role::kOutput)].write = 0.01;
  const SearchResult bound = run_mapper(*make_mapper("exact"), task, {});
  EXPECT_EQ(bound.totals.cycles, 25600);
  EXPECT_FALSE(idle_units(task, *bound.mapping, bound.totals));
}

TEST(IdleUnits, NoMappingWithRemaindersGainsMore) {
  int said = 0;
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    tests::CaseOptions options;
    options.factorizations = {Factorization::kPerfect};
    options.most_mappings = 3000;
    options.spread = seed % 2 == 0;
    Task task = tests::random_case(seed, options).task;
    task.objective = Objective::kRuntime;
    const SearchResult perfect = run_mapper(*make_mapper("exact"), task, {});
    if (!perfect.mapping) continue;
    const auto idle = idle_units(task, *perfect.mapping, perfect.totals);
    task.factorization = Factorization::kRubyS;
    const SearchResult remainders = run_mapper(*make_mapper("exact"), task, {});
    if (!idle || !remainders.mapping) continue;
    ++said;
    EXPECT_GE(remainders.totals.cycles, idle->least_cycles * (1 - 1e-9)) << "seed " << seed;
  }
  EXPECT_GT(said, 20);
}

}  // namespace
}  // namespace pliant
