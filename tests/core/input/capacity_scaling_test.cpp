// SPDX-License-Identifier: Apache-2.0
// Nothing stays constant while a buffer grows: stated energies follow the technology table's ratio, missing ones its
// values.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "core/input/load.h"
#include "support/shipped_library.h"

namespace pliant {
namespace {

constexpr const char* kStated = R"(name: small
parameters: {size: 64KiB}
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 64}
  - {memory: GLB, capacity: $size, read_pj: 2, update_pj: 3, leak_pj_per_cycle: 0.5, area_um2: 1000}
  - {compute: MAC, mac_pj: 0.2}
)";

Memory buffer(const std::vector<Setting>& settings, const std::string& text = kStated) {
  return parse_accelerator_text(library(), text, "small.yaml", settings).levels[1].memory();
}

TEST(CapacityScaling, StatedFiguresHoldAtTheStatedCapacity) {
  const Memory m = buffer({});
  EXPECT_EQ(m.read_pj, 2);
  EXPECT_EQ(m.write_pj, 2);
  EXPECT_EQ(m.update_pj, 3);
  EXPECT_EQ(m.area_um2, 1000);
}

TEST(CapacityScaling, AChangedCapacityScalesByTheTable) {
  const Technology table = load_technology(library(), "generic");
  const Count before = 32 * 1024, after = 128 * 1024;
  const double ratio = table.read_pj(after, 16) / table.read_pj(before, 16);
  EXPECT_GT(ratio, 1);
  for (const std::vector<Setting>& change :
       {std::vector<Setting>{{"GLB.capacity", "256KiB"}}, std::vector<Setting>{{"size", "256KiB"}}}) {
    const Memory m = buffer(change);
    EXPECT_EQ(m.capacity_words, after);
    EXPECT_DOUBLE_EQ(m.read_pj, 2 * ratio);
    EXPECT_DOUBLE_EQ(m.update_pj, 3 * table.write_pj(after, 16) / table.write_pj(before, 16));
    EXPECT_DOUBLE_EQ(m.leak_pj_per_cycle, 0.5 * 4);
    EXPECT_DOUBLE_EQ(m.area_um2, 1000 * table.area_um2(after, 16) / table.area_um2(before, 16));
  }
}

TEST(CapacityScaling, WhatIsSetAsWellIsTakenAsSet) {
  const Memory m = buffer({{"GLB.capacity", "256KiB"}, {"GLB.read_pj", "7"}, {"GLB.area_um2", "9"}});
  EXPECT_EQ(m.read_pj, 7);
  EXPECT_EQ(m.area_um2, 9);
  EXPECT_GT(m.update_pj, 3);
}

TEST(CapacityScaling, ANamedTableIsUsedAndWiderWordsCostMore) {
  const std::string text = std::string(kStated) + "technology: cmos_45nm\n";
  const Technology table = load_technology(library(), "cmos_45nm");
  EXPECT_DOUBLE_EQ(buffer({{"size", "8KiB"}}, text).read_pj,
                   2 * (table.read_pj(4096, 16) / table.read_pj(32 * 1024, 16)));
  EXPECT_DOUBLE_EQ(buffer({{"GLB.word_bits", "32"}}, text).read_pj,
                   2 * (table.read_pj(16 * 1024, 32) / table.read_pj(32 * 1024, 16)));
}

TEST(CapacityScaling, AMemoryWithoutEnergiesFollowsItsTable) {
  const std::string text =
      "name: small\ntechnology: cmos_45nm\nlevels:\n"
      "  - {memory: DRAM, capacity: unbounded, read_pj: 64}\n"
      "  - {memory: GLB, capacity: 8KiB}\n"
      "  - {compute: MAC, mac_pj: 0.2}\n";
  const Technology table = load_technology(library(), "cmos_45nm");
  for (const char* size : {"8KiB", "10KiB", "4MiB"}) {
    const Memory m = buffer({{"GLB.capacity", size}}, text);
    EXPECT_DOUBLE_EQ(m.read_pj, table.read_pj(*m.capacity_words, 16));
    EXPECT_DOUBLE_EQ(m.area_um2, table.area_um2(*m.capacity_words, 16));
  }
}

TEST(CapacityScaling, TheTableMeetsItsPointsAndContinuesItsSlopes) {
  Technology table;
  table.word_bits = 16;
  table.points = {{8192, 1, 2}, {32768, 2, 4}};
  table.overhead_um2 = 10;
  table.um2_per_bit = 0.5;
  EXPECT_DOUBLE_EQ(table.read_pj(512, 16), 1);
  EXPECT_DOUBLE_EQ(table.read_pj(2048, 16), 2);
  EXPECT_DOUBLE_EQ(table.read_pj(1024, 16), std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(table.read_pj(8192, 16), 4);
  EXPECT_DOUBLE_EQ(table.read_pj(128, 16), 0.5);
  EXPECT_DOUBLE_EQ(table.write_pj(1024, 32), 8);  // the same bits as 2048 words of 16, read in words twice as wide
  EXPECT_DOUBLE_EQ(table.area_um2(512, 16), 10 + 4096);
}

}  // namespace
}  // namespace pliant
