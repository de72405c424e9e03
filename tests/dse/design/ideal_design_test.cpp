// SPDX-License-Identifier: Apache-2.0
// The ideal design of a box bounds every design in it: every mapping that a design can run, the ideal can run for no
// more energy and no more cycles; and no design is smaller than the least area.
#include "dse/design/ideal_design.h"

#include <gtest/gtest.h>

#include <random>

#include "core/legality.h"
#include "costmodel/area.h"
#include "costmodel/report.h"
#include "dse/sweep/design_space.h"
#include "flex/mapspace/enumerate.h"
#include "support/design_spaces.h"

namespace pliant {
namespace {

HardwareBox random_box(const Sweep& sweep, const IdealDesigns& ideals, std::mt19937_64& random) {
  HardwareBox box = whole_box(sweep);
  for (HardwareBox::Range& range : box.axes) {
    const auto size = static_cast<std::uint64_t>(range.size());
    const auto a = static_cast<std::int32_t>(random() % size), b = static_cast<std::int32_t>(random() % size);
    range = {std::min(a, b), std::max(a, b)};
  }
  while (const auto axis = ideals.must_split(box)) box.axes[*axis].last = box.axes[*axis].first;
  return box;
}

/// How many mappings of the design were compared.
int compare(const Layer& layer, const DesignPoint& design, const Accelerator& ideal) {
  int compared = 0, seen = 0;
  const Accelerator& own = *design.accelerator;
  for_each_mapping(layer, own, own.flexibility_of(layer), design.factorization, [&](const Mapping& mapping) {
    if (++seen > 4000) return false;
    if (!check_legality(layer, own, own.flexibility_of(layer), design.factorization, mapping).empty()) return true;
    const auto broken = check_legality(layer, ideal, ideal.flexibility_of(layer), design.factorization, mapping);
    EXPECT_TRUE(broken.empty()) << (broken.empty() ? "" : broken.front().message);
    const Totals there = price(layer, ideal, mapping).totals, here = price(layer, own, mapping).totals;
    EXPECT_LE(there.energy_pj, here.energy_pj * (1 + 1e-12));
    EXPECT_LE(there.cycles, here.cycles * (1 + 1e-12));
    ++compared;
    return !testing::Test::HasFailure();
  });
  return compared;
}

TEST(IdealDesign, CanRunEverythingForNoMore) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const tests::ScratchFolder folder("ideal_design");
  int compared = 0;
  for (std::uint64_t seed = 300; seed < 360 && !HasFailure(); ++seed) {
    const tests::RandomSpace space = tests::random_space(library, seed, folder.path(), 400);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + space.text);
    const auto sweep = std::make_shared<const Sweep>(space.sweep);
    IdealDesigns ideals(library, sweep);
    DesignSpace designs(library, sweep);
    const std::int64_t inner = designs.size() / designs.hardware_points();
    std::mt19937_64 random(seed);
    for (int k = 0; k < 3; ++k) {
      const HardwareBox box = random_box(*sweep, ideals, random);
      const auto ideal = ideals.of(box);
      ASSERT_TRUE(ideal);
      std::vector<std::int32_t> positions;
      for (const HardwareBox::Range& range : box.axes)
        positions.push_back(range.first +
                            static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(range.size())));
      const DesignPoint design =
          designs.design(hardware_number(*sweep, positions) * inner +
                         static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(inner)));
      if (!design.accelerator) continue;
      EXPECT_FALSE(ideal->contradicts);
      EXPECT_LE(ideal->least_area_um2, area_um2(*design.accelerator).total() * (1 + 1e-12));
      for (const auto& [name, range] : ideal->numbers) {
        const auto value = designs.value(design.key->design_id, name);
        if (!value) continue;
        EXPECT_GE(*value, range.first * (1 - 1e-12)) << name;
        EXPECT_LE(*value, range.second * (1 + 1e-12)) << name;
      }
      compared += compare(sweep->workloads.front().layers.front().layer, design, *ideal->accelerator);
    }
  }
  EXPECT_GE(compared, 10'000);
}

TEST(IdealDesign, OfAPointIsThePoint) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const Sweep sweep = parse_sweep_text(library,
                                       "accelerator: flexref\nworkloads: [{name: w, layers: [\"gemm:M=4,N=4,K=4\"]}]\n"
                                       "vary: {rows: [4, 8], Buffer.capacity: [16KiB, 64KiB]}\nflexibility: all-16\n"
                                       "minimize: [area_um2, edp_pj_cycles]\n",
                                       "space");
  const auto shared = std::make_shared<const Sweep>(sweep);
  IdealDesigns ideals(library, shared);
  HardwareBox box = whole_box(sweep);
  EXPECT_EQ(ideals.must_split(box), std::nullopt);
  box.axes[0].first = 1;
  box.axes[1].first = 1;
  const auto ideal = ideals.of(box);
  ASSERT_TRUE(ideal);
  const Accelerator point = load_accelerator(library, "flexref", {{"rows", "8"}, {"Buffer.capacity", "64KiB"}});
  const Memory& buffer = ideal->accelerator->levels[1].memory();
  EXPECT_EQ(buffer.capacity_words, point.levels[1].memory().capacity_words);
  EXPECT_EQ(buffer.read_pj, point.levels[1].memory().read_pj);
  EXPECT_EQ(ideal->accelerator->macs_units(), point.macs_units());
  // The smallest design has no flexibility: that area alone is missing.
  const Area area = area_um2(point);
  EXPECT_NEAR(ideal->least_area_um2,
              area.total() - area.flexibility[0] - area.flexibility[1] - area.flexibility[2] - area.flexibility[3],
              1e-6);
}

TEST(IdealDesign, AxesThatChangeMoreThanSizesAreSplit) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const Sweep sweep = parse_sweep_text(library,
                                       "accelerator: flexref\nworkloads: [{name: w, layers: [\"gemm:M=4,N=4,K=4\"]}]\n"
                                       "vary: {rows: [4, 8], Buffer.technology: [cmos_15nm, generic]}\n"
                                       "flexibility: all-16\nminimize: area_um2\n",
                                       "space");
  const IdealDesigns ideals(library, std::make_shared<const Sweep>(sweep));
  EXPECT_EQ(ideals.must_split(whole_box(sweep)), std::size_t{1});
}

TEST(IdealDesign, ChoosesWhereDesignsDifferInWhatIsWiredIn) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const Sweep sweep =
      parse_sweep_text(library,
                       "accelerator: flexref_wired\nworkloads: [{name: w, layers: [\"gemm:M=4,N=4,K=4\"]}]\n"
                       "vary: {tile_m: [8, 64], tile_c: [16, 512, 2048], row_dim: [[C], [P]], col_dim: [[M], [Q]]}\n"
                       "flexibility: InFlex-0000\nminimize: runtime_cycles\n",
                       "space");
  IdealDesigns ideals(library, std::make_shared<const Sweep>(sweep));
  HardwareBox box = whole_box(sweep);
  EXPECT_EQ(ideals.must_split(box), std::nullopt);
  const auto rules = [&] {
    const auto ideal = ideals.of(box);
    return ideal ? ideal->accelerator->flexibility.levels : std::vector<LevelFlexibility>{};
  };
  const auto tiled = [&] {
    std::string dims;
    const std::vector<LevelFlexibility> levels = rules();
    for (const TileRule::Tile& tile : levels.at(1).tile.fixed) dims += tile.dim;
    return dims;
  };
  EXPECT_EQ(tiled(), "PQRS");
  EXPECT_EQ(rules().at(2).parallel.assignments.size(), 4U);
  box.axes[0].last = 0;
  EXPECT_EQ(tiled(), "MPQRS");
  box.axes[2].last = 0;
  EXPECT_EQ(rules().at(2).parallel.assignments.size(), 2U);
  // A tile of 2048 channels with three by three filters for 64 outputs has no room in 100 KiB; with 8 outputs it has.
  box.axes[1].first = 1;
  EXPECT_FALSE(ideals.of(box)->contradicts);
  box.axes[0] = {1, 1};
  EXPECT_TRUE(ideals.of(box)->contradicts);
}

}  // namespace
}  // namespace pliant
