// SPDX-License-Identifier: Apache-2.0
// No mapping of a random layer takes less than its floor, which is mostly above what the compute units alone need.
#include "dse/design/floor_bound.h"

#include <gtest/gtest.h>

#include "core/legality.h"
#include "costmodel/report.h"
#include "dse/design/bounded_space.h"
#include "flex/mapspace/enumerate.h"
#include "support/random_cases.h"

namespace pliant {
namespace {

TEST(FloorBound, IsBelowEveryMapping) {
  int compared = 0, cases = 0, sharper = 0, slower = 0;
  for (std::uint64_t seed = 1; seed <= 200 && !HasFailure(); ++seed) {
    using enum Factorization;
    const tests::RandomCase random = tests::random_case(seed, {.factorizations = {kPerfect, kPerfect, kRubyS},
                                                               .most_mappings = 3000,
                                                               .buses = seed % 3 == 0,
                                                               .residents = seed % 5 == 0,
                                                               .widths = seed % 4 == 0});
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + random.text);
    Accelerator accelerator = random.task.accelerator;
    accelerator.flexibility = random.task.flexibility;
    accelerator.flexibility_for.clear();
    const Layer& layer = random.task.layer;
    const Factorization rule = random.task.factorization;
    const LayerBound floor = floor_bound(layer, accelerator, rule), units = compute_bound(layer, accelerator);
    int seen = 0;
    for_each_mapping(layer, accelerator, accelerator.flexibility, rule, [&](const Mapping& mapping) {
      if (!check_legality(layer, accelerator, accelerator.flexibility, rule, mapping).empty()) return true;
      const Totals totals = price(layer, accelerator, mapping).totals;
      EXPECT_GE(totals.energy_pj, floor.energy_pj * (1 - 1e-12));
      EXPECT_GE(totals.cycles, floor.cycles * (1 - 1e-12));
      EXPECT_GE(totals.edp(), floor.edp * (1 - 1e-12));
      ++seen;
      return !HasFailure();
    });
    compared += seen;
    if (seen == 0) continue;
    ++cases;
    sharper += floor.energy_pj > units.energy_pj * (1 + 1e-9);
    slower += floor.cycles > units.cycles * (1 + 1e-9);
  }
  EXPECT_GE(compared, 15'000);
  EXPECT_GE(sharper, cases * 3 / 4);
  EXPECT_GE(slower, cases / 4);
}

}  // namespace
}  // namespace pliant
