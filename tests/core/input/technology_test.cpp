// SPDX-License-Identifier: Apache-2.0
// What comes from technology tables: units, leakage, devices beside the chip, and what a change of node moves.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "core/input/load.h"
#include "support/shipped_library.h"

namespace pliant {
namespace {

constexpr const char* kDesign = R"(name: chip
word_bits: 8
technology: cmos_45nm
levels:
  - {memory: DRAM, capacity: 4GiB, technology: LPDDR5}
  - {memory: GLB, capacity: 64KiB}
  - {fanout: PEs, rows: 4, cols: 8, area_um2: 100}
  - {memory: RF, capacity: 512 bytes, read_pj: 0.5, area_um2: 400}
  - {compute: MAC}
)";

Accelerator chip(const std::vector<Setting>& settings = {}, const std::string& more = "") {
  return parse_accelerator_text(library(), kDesign + more, "chip.yaml", settings);
}

TEST(TechnologyTables, UnitsAreTheSumsOfPublishedOperations) {
  const Technology old = load_technology(library(), "cmos_45nm"), now = load_technology(library(), "cmos_7nm");
  // Horowitz, ISSCC 2014: multiplication and addition into the accumulator, pJ and um2.
  EXPECT_DOUBLE_EQ(old.find_mac("INT8")->mac_pj, 0.2 + 0.1);
  EXPECT_DOUBLE_EQ(old.find_mac("INT8")->area_um2, 282 + 137);
  EXPECT_DOUBLE_EQ(old.find_mac("FP32")->mac_pj, 3.7 + 0.9);
  // Jouppi et al., ISCA 2021, Table 2.
  EXPECT_DOUBLE_EQ(now.find_mac("INT8")->mac_pj, 0.07 + 0.03);
  EXPECT_DOUBLE_EQ(now.find_mac("BF16")->mac_pj, 0.21 + 0.38);
  EXPECT_DOUBLE_EQ(now.find_mac("FP32")->mac_pj, 1.31 + 0.38);
}

TEST(TechnologyTables, NarrowerAndNewerIsCheaper) {
  const char* nodes[] = {"cmos_65nm", "cmos_45nm", "cmos_28nm", "cmos_22nm", "cmos_15nm", "cmos_7nm"};
  double before = 1e9;
  for (const char* node : nodes) {
    const Technology table = load_technology(library(), node);
    EXPECT_EQ(table.operations(), (std::vector<std::string>{"INT4", "INT8", "INT16", "FP8", "BF16", "FP16", "FP32"}));
    for (const auto& [less, more] :
         {std::pair{"INT4", "INT8"}, {"INT8", "INT16"}, {"FP8", "BF16"}, {"BF16", "FP16"}, {"FP16", "FP32"}}) {
      EXPECT_LT(table.find_mac(less)->mac_pj, table.find_mac(more)->mac_pj) << node;
      EXPECT_LT(table.find_mac(less)->area_um2, table.find_mac(more)->area_um2) << node;
    }
    EXPECT_LT(table.find_mac("INT8")->mac_pj, before) << node;
    before = table.find_mac("INT8")->mac_pj;
  }
}

TEST(TechnologyTables, ADeviceBesideTheChipHasNoArea) {
  const Memory dram = chip().levels[0].memory();
  EXPECT_TRUE(dram.off_chip);
  EXPECT_EQ(dram.area_um2, 0);
  EXPECT_EQ(dram.leak_pj_per_cycle, 0);
  EXPECT_DOUBLE_EQ(dram.read_pj, 5.6 * 8);
  EXPECT_DOUBLE_EQ(dram.write_pj, 5.6 * 8);
  for (const char* device :
       {"LPDDR4", "LPDDR4X", "LPDDR5", "LPDDR5X", "DDR4", "DDR5", "GDDR6", "HBM2e", "HBM3", "HBM3e"}) {
    const Technology table = load_technology(library(), device);
    ASSERT_TRUE(table.off_chip) << device;
    EXPECT_GT(table.off_chip->gb_per_s, 10) << device;
    EXPECT_EQ(chip({{"DRAM.technology", device}}).levels[0].memory().area_um2, 0) << device;
  }
  // What the device does not say, the file may: an unbounded one needs no energy of its own.
  EXPECT_DOUBLE_EQ(chip({{"DRAM.capacity", "unbounded"}}).levels[0].memory().read_pj, 5.6 * 8);
}

TEST(TechnologyTables, LeakageIsAPowerAndNeedsAClock) {
  EXPECT_EQ(chip().levels[1].memory().leak_pj_per_cycle, 0);
  EXPECT_EQ(chip().levels[4].compute().leak_pj_per_cycle, 0);
  const Accelerator fast = chip({{"clock", "1 GHz"}}), slow = chip({{"clock", "250 MHz"}});
  const Memory& glb = fast.levels[1].memory();
  // 11 nW per um2 are 11e-9 J in a second, 11e-6 pJ in a nanosecond.
  EXPECT_NEAR(glb.leak_pj_per_cycle, 11e-6 * glb.area_um2, 1e-9);
  EXPECT_NEAR(fast.levels[4].compute().leak_pj_per_cycle, 11e-6 * 419, 1e-12);
  EXPECT_NEAR(slow.levels[1].memory().leak_pj_per_cycle, 4 * glb.leak_pj_per_cycle, 1e-9);
}

TEST(TechnologyTables, ANodeMovesEverythingThatNamesIt) {
  const std::string area = "area: {base_um2: 1000, flexibility_um2: {T: 10, O: 20, P: 30, S: 40}}\n";
  const Accelerator then = chip({}, area), now = chip({{"technology", "cmos_7nm"}}, area);
  const Technology a = load_technology(library(), "cmos_45nm"), b = load_technology(library(), "cmos_7nm");
  const double logic = b.find_mac("INT8")->area_um2 / a.find_mac("INT8")->area_um2;
  EXPECT_LT(logic, 0.1);
  EXPECT_EQ(now.levels[0].memory().read_pj, then.levels[0].memory().read_pj) << "a device has no node";
  EXPECT_DOUBLE_EQ(now.levels[1].memory().read_pj, b.read_pj(65536, 8));
  EXPECT_DOUBLE_EQ(now.levels[1].memory().area_um2, b.area_um2(65536, 8));
  // Stated figures move by the ratio of the tables at the same size.
  EXPECT_DOUBLE_EQ(now.levels[3].memory().read_pj, 0.5 * (b.read_pj(512, 8) / a.read_pj(512, 8)));
  EXPECT_DOUBLE_EQ(now.levels[3].memory().area_um2, 400 * (b.area_um2(512, 8) / a.area_um2(512, 8)));
  EXPECT_DOUBLE_EQ(now.levels[2].fanout().area_um2, 100 * logic);
  EXPECT_DOUBLE_EQ(now.levels[4].compute().mac_pj, 0.1);
  EXPECT_DOUBLE_EQ(now.base_area_um2, 1000 * logic);
  for (std::size_t axis = 0; axis < 4; ++axis)
    EXPECT_DOUBLE_EQ(now.flexibility_area_um2[axis], 10.0 * static_cast<double>(axis + 1) * logic);
  EXPECT_DOUBLE_EQ(chip({{"MAC.mac_pj", "0.6"}, {"technology", "cmos_7nm"}}).levels[4].compute().mac_pj, 0.6)
      << "set together with the node, it is the new node's";
  const std::string stated = std::string(kDesign).replace(std::string(kDesign).find("{compute: MAC}"), 14,
                                                          "{compute: MAC, mac_pj: 0.6, area_um2: 50}");
  const Compute moved =
      parse_accelerator_text(library(), stated, "chip.yaml", {{"technology", "cmos_7nm"}}).levels[4].compute();
  // With a clock everything that names a technology leaks, at either node, and less where it is smaller.
  const Accelerator old_leaks = chip({{"clock", "1 GHz"}}, area),
                    new_leaks = chip({{"clock", "1 GHz"}, {"technology", "cmos_7nm"}}, area);
  for (const std::size_t level : {std::size_t{1}, std::size_t{3}}) {
    const Memory &old_memory = old_leaks.levels[level].memory(), &new_memory = new_leaks.levels[level].memory();
    EXPECT_GT(new_memory.leak_pj_per_cycle, 0) << level;
    EXPECT_NEAR(new_memory.leak_pj_per_cycle / old_memory.leak_pj_per_cycle,
                b.leak_nw_per_um2 * b.area_um2(*new_memory.capacity_words, 8) /
                    (a.leak_nw_per_um2 * a.area_um2(*old_memory.capacity_words, 8)),
                1e-9)
        << level;
  }
  EXPECT_GT(new_leaks.levels[4].compute().leak_pj_per_cycle, 0);
  EXPECT_NEAR(new_leaks.levels[4].compute().leak_pj_per_cycle / old_leaks.levels[4].compute().leak_pj_per_cycle,
              logic * b.leak_nw_per_um2 / a.leak_nw_per_um2, 1e-9);
  EXPECT_DOUBLE_EQ(moved.mac_pj, 0.6 * (0.1 / 0.3));
  EXPECT_DOUBLE_EQ(moved.area_um2, 50 * logic);
}

TEST(TechnologyTables, OperationsByNameAndByWidth) {
  EXPECT_DOUBLE_EQ(chip().levels[4].compute().mac_pj, 0.3) << "INT8, for words have 8 bits";
  EXPECT_DOUBLE_EQ(chip({{"MAC.operation", "FP32"}}).levels[4].compute().mac_pj, 4.6);
  EXPECT_DOUBLE_EQ(chip({{"MAC.operation", "FP32"}, {"MAC.mac_pj", "5"}}).levels[4].compute().mac_pj, 5);
  EXPECT_DOUBLE_EQ(chip({{"MAC.operation", "FP32"}, {"MAC.mac_pj", "5"}}).levels[4].compute().area_um2, 11900);
  EXPECT_THROW(chip({{"word_bits", "12"}, {"GLB.capacity", "4Ki words"}, {"RF.capacity", "4 words"}}), InputError);
}

/// The reference design without its `area:` block gets Table 3 back, and another node moves it.
TEST(FlexibilityArea, DefaultsToTable3ScaledToTheDesign) {
  constexpr const char* kReference = R"(name: like_flexref
word_bits: 8
technology: cmos_15nm
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 64}
  - {memory: Buffer, capacity: 100KiB}
  - {fanout: PEs, rows: 16, cols: 64}
  - {memory: Latch, capacity: 3, read_pj: 0.01, area_um2: 0}
  - {compute: MAC, mac_pj: 0.16, area_um2: 512}
)";
  const auto read = [&](const std::vector<Setting>& settings) {
    return parse_accelerator_text(library(), kReference, "like.yaml", settings);
  };
  const Accelerator reference = load_accelerator(library(), "flexref"), same = read({});
  for (std::size_t axis = 0; axis < 4; ++axis)
    EXPECT_DOUBLE_EQ(same.flexibility_area_um2[axis], reference.flexibility_area_um2[axis]);
  EXPECT_NE(same.flexibility_area_from.find("Table 3"), std::string::npos);
  EXPECT_EQ(reference.flexibility_area_from, "the accelerator's file");
  // It grows with the design as the stated one does.
  const std::vector<Setting> larger{{"Buffer.capacity", "400KiB"}, {"PEs.rows", "32"}};
  const Accelerator grown = read(larger), other = load_accelerator(library(), "flexref", larger);
  for (std::size_t axis = 0; axis < 4; ++axis)
    EXPECT_NEAR(grown.flexibility_area_um2[axis], other.flexibility_area_um2[axis], 1e-9);
  const Accelerator small = read({{"technology", "cmos_7nm"}});
  EXPECT_NEAR(small.flexibility_area_um2[1] / 1615, 0.027 / 0.07, 0.01) << "as the published 6T cells";
}

TEST(FlexibilityArea, NothingWhereNothingHasAnArea) {
  const Accelerator bare = parse_accelerator_text(library(),
                                                  "name: bare\nlevels:\n  - {memory: DRAM, capacity: unbounded, "
                                                  "read_pj: 64}\n  - {compute: MAC, mac_pj: 1}\n",
                                                  "bare.yaml");
  EXPECT_EQ(bare.flexibility_area_um2, (std::array<double, 4>{}));
  EXPECT_TRUE(bare.flexibility_area_from.empty());
}

}  // namespace
}  // namespace pliant
