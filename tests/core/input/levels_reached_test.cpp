// SPDX-License-Identifier: Apache-2.0
// A setting changes no level but those it is said to reach: counting designs relies on it.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "support/shipped_library.h"

namespace pliant {
namespace {

using Reached = std::optional<std::vector<std::size_t>>;

Reached at_levels(std::vector<std::size_t> positions) { return positions; }

TEST(LevelsReached, FollowParametersAndKeysToTheirLevels) {
  const AcceleratorTemplate npu(library(), "npu");
  EXPECT_EQ(npu.levels_reached({}, {"sram", "1MiB"}), at_levels({1}));
  EXPECT_EQ(npu.levels_reached({}, {"rows", "8"}), at_levels({2}));
  EXPECT_EQ(npu.levels_reached({}, {"Weights.capacity", "64"}), at_levels({3}));
  EXPECT_EQ(npu.levels_reached({}, {"SRAM.tiles", "{max: 5}"}), at_levels({})) << "no size";
  EXPECT_EQ(npu.levels_reached({}, {"conventions", "timeloop"}), at_levels({}));
  EXPECT_EQ(npu.levels_reached({}, {"word_bits", "16"}), std::nullopt) << "all follow it";
  EXPECT_EQ(npu.levels_reached({}, {"technology", "cmos_15nm"}), std::nullopt);
  // What is set to a parameter follows that one.
  EXPECT_EQ(npu.levels_reached({{"PEs.cols", "$rows"}, {"Sums.capacity", "$sram"}}, {"sram", "1MiB"}),
            at_levels({1, 5}));
  EXPECT_EQ(npu.levels_reached({}, {"PEs.cols", "$rows"}), std::nullopt) << "anything may follow";
}

/// Two readings that differ in one setting: every level that differs was said to be reached, on all shipped
/// accelerators, beside another setting or not.
TEST(LevelsReached, NameEveryLevelThatChanges) {
  int changed = 0, spared = 0;
  for (const std::string& name : library().accelerator_names()) {
    AcceleratorTemplate read(library(), name);
    const Accelerator plain = read.with({});
    std::vector<Setting> settings{{"word_bits", "12"}, {"technology", "cmos_7nm"}, {"clock", "0.7 GHz"}};
    for (const YamlEntry& entry : read.parameters({}).entries) {
      settings.emplace_back(entry.key, "3");
      settings.emplace_back(entry.key, "12KiB");
    }
    for (const Level& level : plain.levels) {
      for (const auto& [key, value] : std::vector<Setting>{{"capacity", "12KiB"},
                                                           {"bandwidth", "3"},
                                                           {"read_pj", "77"},
                                                           {"area_um2", "123"},
                                                           {"word_bits", "24"},
                                                           {"rows", "3"},
                                                           {"cols", "5"},
                                                           {"mac_pj", "0.125"}})
        settings.emplace_back(level.name + "." + key, value);
    }
    for (const Setting& setting : settings) {
      for (const std::vector<Setting>& beside : {std::vector<Setting>{}, {{"word_bits", "32"}}}) {
        std::vector<Setting> all = beside;
        all.push_back(setting);
        Accelerator before, after;
        try {
          before = read.sizes_with(beside);
          after = read.sizes_with(all);
        } catch (const InputError&) {
          continue;  // the level has no such key
        }
        const Reached reached = read.levels_reached(beside, setting);
        if (!reached) continue;
        for (std::size_t l = 0; l < after.levels.size(); ++l) {
          const bool said = std::ranges::find(*reached, l) != reached->end();
          const bool differs = before.levels[l] != after.levels[l];
          EXPECT_TRUE(said || !differs) << name << ": " << setting.first << " changes " << after.levels[l].name;
          changed += differs ? 1 : 0;
          spared += said ? 0 : 1;
        }
        EXPECT_EQ(before.base_area_um2, after.base_area_um2) << name << ": " << setting.first;
      }
    }
  }
  EXPECT_GT(changed, 300);
  EXPECT_GT(spared, 1000);
}

/// Sizes are those of the whole accelerator, also where its flexibility contradicts them.
TEST(LevelsReached, SizesAreReadWithoutFlexibility) {
  for (const std::string& name : library().accelerator_names()) {
    AcceleratorTemplate read(library(), name);
    const Accelerator whole = read.with({}), sizes = read.sizes_with({});
    EXPECT_EQ(whole.levels, sizes.levels) << name;
    EXPECT_EQ(whole.flexibility_area_um2, sizes.flexibility_area_um2) << name;
    EXPECT_EQ(whole.base_area_um2, sizes.base_area_um2) << name;
    EXPECT_EQ(whole.clock_hz, sizes.clock_hz) << name;
  }
  AcceleratorTemplate npu(library(), "npu");
  EXPECT_THROW(npu.with({{"SRAM.tiles", "{fixed: {M: none}}"}}), InputError);
  EXPECT_EQ(npu.sizes_with({{"SRAM.tiles", "{fixed: {M: none}}"}}).levels, npu.with({}).levels);
}

}  // namespace
}  // namespace pliant
