// SPDX-License-Identifier: Apache-2.0
// Designs are counted from tables of sizes as they would be by reading each, and with far less reading.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "dse/import/open.h"
#include "dse/sweep/design_space.h"
#include "dse/sweep/hardware_sizes.h"
#include "support/shipped_library.h"

namespace pliant {
namespace {

std::shared_ptr<const Sweep> sweep_of(const std::string& text) {
  return std::make_shared<const Sweep>(parse_sweep_text(library(), text + "\nworkloads: [alexnet]\n", "toy.yaml"));
}

/// Axes that share levels, axes that change all of them, several accelerators, keys that vary together, sizes that
/// contradict each other, and constraints of every kind.
const std::vector<std::string> kTabledSpaces{
    "accelerator: npu\n"
    "vary: {rows: {from: 1, to: 12}, cols: {from: 1, to: 12}, sram: [64KiB, 128KiB, 256KiB, 1MiB]}\n"
    "flexibility: [own, \"0000\", \"1111\"]\nconstraints: [area_um2 <= 3e5, rows*cols >= 4]",
    "accelerator: npu\n"
    "vary: {technology: [cmos_7nm, cmos_15nm, cmos_28nm], SRAM.bandwidth: [16, 32, 64], rows: {from: 2, to: 9}, "
    "cols: {from: 2, to: 9}, Weights.capacity: [128, 256, 512]}\n"
    "constraints: [area_um2 / compute_units <= 20000, buffer_bytes <= 3MiB]",
    "accelerator: [npu, flexref]\n"
    "vary: {rows: {from: 1, to: 16}, cols: [1, 8, 64, 128]}\nset: {}\n"
    "flexibility: [\"0000\", \"1010\", \"1111\"]\nconstraints: [area_um2 <= 7e5, PEs.units != 64]",
    "accelerator: flexref\n"
    "vary:\n  - {rows: {from: 1, to: 30}}\n  - {cols: {from: 1, to: 30}}\n"
    "flexibility: [\"0000\", \"0001\", PartFlex-1111]\nconstraints: [area_um2 <= 3e5, area_um2 > 1e5]",
    "accelerator: npu\n"
    "vary: {word_bits: [4096, 16, 8], rows: {from: 1, to: 20}, cols: [1, 4, 16], sram: [1KiB, 32KiB, 512KiB]}\n"
    "constraints: [SRAM.capacity_bytes * rows <= 1e6, area_um2 <= 8e6]",
    "accelerator: flexref\n"
    "vary: {rows: {from: 1, to: 16}, cols: {from: 1, to: 16}, Buffer.capacity: [40, 4Ki, 64Ki]}\n"
    "flexibility: [\"0000\", \"1111\"]\nconstraints: area_um2 <= 1.5e5",
};

TEST(HardwareSizes, AreThoseOfEveryPoint) {
  for (const std::string& text : kTabledSpaces) {
    const auto sweep = sweep_of(text);
    const auto sizes = HardwareSizes::read(library(), *sweep, {}, {}, 0);
    ASSERT_NE(sizes, nullptr) << text;
    std::vector<AcceleratorTemplate> readers;
    for (const std::string& name : sweep->accelerators) readers.push_back(open_accelerator_template(library(), name));
    const DesignSpace space(library(), sweep);
    HardwareSizes::Point point;
    int known = 0;
    for (std::int64_t h = 0; h < space.hardware_points(); h += 3) {
      const std::vector<std::size_t> positions = axis_positions(*sweep, h);
      std::size_t accelerator = 0;
      const std::vector<Setting> settings = settings_at(*sweep, positions, accelerator);
      if (!sizes->find(positions, point)) continue;
      ++known;
      const Accelerator read = readers[accelerator].sizes_with(settings);
      ASSERT_EQ(point.accelerator.levels, read.levels) << text << ", point " << h;
      EXPECT_EQ(point.accelerator.base_area_um2, read.base_area_um2);
      for (std::size_t a = 0; a < 4; ++a)
        EXPECT_GE(point.accelerator.flexibility_area_um2[a], read.flexibility_area_um2[a] * (1 - 1e-12));
    }
    EXPECT_GT(known, space.hardware_points() / 3 * 6 / 10) << text;
  }
}

TEST(HardwareSizes, JudgeDesignsAsReadingThemDoes) {
  for (const std::string& text : kTabledSpaces) {
    const auto sweep = sweep_of(text);
    DesignSpace tabled(library(), sweep, HardwareSizes::read(library(), *sweep, {}, {}, 0));
    DesignSpace plain(library(), sweep), single(library(), sweep);
    int allowed = 0, refused = 0;
    for (std::int64_t i = 0; i < plain.size(); ++i) {
      const bool found = tabled.allowed(i);
      ASSERT_EQ(found, plain.allowed(i)) << text << ", design " << i;
      ++(found ? allowed : refused);
      if (i % 17 != 0 || !single.design(i).accelerator) continue;
      const bool holds = std::ranges::none_of(sweep->constraints, [&](const Constraint& constraint) {
        return constraint.holds([&](const std::string& name) { return single.value(i, name); }) == false;
      });
      ASSERT_EQ(found, holds) << text << ", design " << i;
    }
    EXPECT_GT(allowed, 0) << text;
    EXPECT_GT(refused, 0) << text;
    EXPECT_LT(tabled.readings(), plain.readings() / 2) << text;
  }
}

/// Work, not time: readings are what counting a million designs under an area limit costs.
TEST(HardwareSizes, AMillionDesignsTakeAFewThousandReadings) {
  const auto sweep = sweep_of(
      "accelerator: npu\nflexibility: [\"1010\"]\nconstraints: area_um2 <= 2e6\n"
      "vary: {rows: {from: 4, to: 128, step: 4}, cols: {from: 4, to: 128, step: 4}, sram: {from: 64KiB, to: 2MiB, "
      "step: "
      "64KiB}, DRAM.bandwidth: {from: 1, to: 32}}");
  const auto sizes = HardwareSizes::read(library(), *sweep);
  ASSERT_NE(sizes, nullptr);
  EXPECT_LT(sizes->readings(), 1200);  // 32 x 32 arrays, 32 buffers, 32 bandwidths
  DesignSpace tabled(library(), sweep, sizes), plain(library(), sweep);
  ASSERT_EQ(tabled.size(), 32 * 32 * 32 * 32);
  std::int64_t judged = 0, allowed = 0;
  for (std::int64_t i = 0; i < tabled.size(); i += 1499, ++judged) {
    const bool found = tabled.allowed(i);
    EXPECT_EQ(found, plain.allowed(i)) << i;
    allowed += found ? 1 : 0;
  }
  EXPECT_GT(allowed, judged / 20);
  EXPECT_LT(allowed, judged * 19 / 20);
  // Left are those so close to the limit that their class decides.
  EXPECT_LT(tabled.readings(), judged / 50);
}

TEST(HardwareSizes, ThereIsNoTableWhereItGainsNothing) {
  // Both axes reach one level: every point would be a cell.
  EXPECT_EQ(
      HardwareSizes::read(
          library(), *sweep_of("accelerator: npu\nvary: {rows: {from: 1, to: 20}, cols: {from: 1, to: 20}}"), {}, {}),
      nullptr);
}

}  // namespace
}  // namespace pliant
