// SPDX-License-Identifier: Apache-2.0
// When a port is done: at the end of the cycle in which its last word passes, whatever binary digits make of decimal
// bandwidths.
#include <gtest/gtest.h>

#include "costmodel/report.h"
#include "costmodel/whole_cycles.h"

namespace pliant {
namespace {

TEST(WholeCycles, AreThoseOfTheDecimalNumbers) {
  // Rates are n / 1000 words a cycle, of several copies: integers say what is right.
  for (Count thousandths = 1; thousandths <= 4000; thousandths += 7)
    for (const Count copies : {1, 3, 7, 12}) {
      const double rate = static_cast<double>(thousandths) / 1000 * static_cast<double>(copies);
      for (const Count words : {1, 42, 270, 999, 1'000'000, 123'456'789}) {
        const Count milliwords = words * 1000, each = thousandths * copies;
        const Count cycles = milliwords / each + (milliwords % each != 0 ? 1 : 0);
        EXPECT_EQ(whole_cycles(static_cast<double>(words) / rate), static_cast<double>(cycles))
            << words << " words at " << rate;
      }
    }
}

TEST(WholeCycles, GrowWithTheTime) {
  EXPECT_EQ(whole_cycles(0), 0);
  EXPECT_EQ(whole_cycles(1e-30), 1);
  EXPECT_EQ(whole_cycles(1), 1);
  EXPECT_EQ(whole_cycles(1 + 1e-12), 2);
  double before = 0;
  for (double time = 1e-3; time < 1e18; time *= 1.0001) {
    const double cycles = whole_cycles(time);
    ASSERT_GE(cycles, before);
    ASSERT_GE(cycles, time * (1 - kRoundingOfCycles));
    ASSERT_LE(cycles, time + 1);
    before = cycles;
  }
}

Level memory(const char* name) {
  Memory m;
  m.read_pj = m.write_pj = m.update_pj = 1;
  return {name, m};
}

double cycles_of(Count words, double rate, Count copies) {
  Accelerator a;
  a.name = "ports";
  a.levels = {memory("DRAM"), {"PEs", Fanout{.cols = copies}}, memory("RF"), {"MAC", Compute{}}};
  a.levels[2].memory().bandwidth_of[static_cast<std::size_t>(Role::kInput)].read = rate;
  a.flexibility.levels.resize(a.levels.size());
  const Layer layer = make_gemm("vector", {.M = words});
  Mapping mapping = empty_mapping(layer, a);
  mapping.levels[0].temporal.push_back({layer.find_dim("M"), words / copies});
  mapping.levels[1].spatial.push_back({layer.find_dim("M"), copies, Side::kCols});
  return price(layer, a, mapping).totals.cycles;
}

TEST(WholeCycles, OfAPort) {
  EXPECT_EQ(cycles_of(42, 0.7, 1), 60);
  EXPECT_EQ(cycles_of(270, 0.3, 3), 300);
  EXPECT_EQ(cycles_of(43, 0.7, 1), 62);        // 61.43
  EXPECT_EQ(cycles_of(271 * 3, 0.3, 3), 904);  // 903.33
}

}  // namespace
}  // namespace pliant
