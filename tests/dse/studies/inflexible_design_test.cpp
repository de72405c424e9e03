// SPDX-License-Identifier: Apache-2.0
// The inflexible design: its closed form against the cost model, and the branch and bound against all designs one by
// one.
#include "dse/studies/inflexible_design.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/input/load.h"
#include "costmodel/area.h"
#include "dse/mappers/mapper.h"
#include "dse/studies/inflexible_accelerator.h"
#include "dse/studies/inflexible_cost.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

Workload small_network() {
  Workload network;
  network.name = "small";
  network.layers = {{make_conv("a", {.M = 6, .C = 4, .P = 4, .Q = 2, .R = 3}), 2},
                    {make_conv("b", {.M = 4, .C = 6, .P = 2, .Q = 4}), 1},
                    {make_conv("d", {.M = 6, .C = 6, .P = 4, .Q = 2, .R = 3, .groups = 6}), 1}};
  return network;
}

/// The least cycles over every pair, shape, tile and order.
double least_of_all(const InflexibleNetwork& network, const InflexibleHardware& hardware) {
  double least = 1e300;
  InflexibleDesign design;
  const auto try_orders = [&] {
    std::iota(design.order.begin(), design.order.end(), 0);
    do least = std::min(least, network.cycles(design, hardware));
    while (hardware.words_per_cycle > 0 && std::ranges::next_permutation(design.order).found);
  };
  const auto try_tiles = [&](const auto& self, std::size_t dim) -> void {
    if (dim == 6) {
      if (tile_fits(design.tile, hardware.buffer_words)) try_orders();
      return;
    }
    for (Count size = 1; size <= network.tiles(dim).front(); ++size) {
      design.tile[dim] = size;
      self(self, dim + 1);
    }
  };
  for (design.row_dim = 0; design.row_dim < 6; ++design.row_dim)
    for (design.col_dim = 0; design.col_dim < 6; ++design.col_dim)
      for (design.rows = 1; design.row_dim != design.col_dim && design.rows <= hardware.units; design.rows += 1) {
        design.cols = hardware.units / design.rows;
        if (design.rows < hardware.units && hardware.units / (design.rows + 1) == design.cols) continue;
        try_tiles(try_tiles, 0);
      }
  return least;
}

TEST(InflexibleDesign, BranchAndBoundFindsTheBestOfAll) {
  Workload two;  // all orders of all tiles, one by one: as small as can be
  two.layers = {{make_conv("b", {.M = 4, .C = 3, .P = 4}), 2},
                {make_conv("d", {.M = 4, .C = 4, .P = 2, .R = 2, .groups = 4}), 1}};
  const InflexibleNetwork network(two);
  for (const double words_per_cycle : {0.0, 0.5, 2.0})
    for (const Count buffer : {Count{12}, Count{40}}) {
      const InflexibleHardware hardware{3, buffer, words_per_cycle};
      const InflexibleDesign best = network.best(hardware, [] { return false; });
      EXPECT_DOUBLE_EQ(network.cycles(best, hardware), best.cycles);
      EXPECT_TRUE(tile_fits(best.tile, buffer));
      EXPECT_DOUBLE_EQ(best.cycles, least_of_all(network, hardware)) << buffer << " words, " << words_per_cycle;
      EXPECT_GE(network.genetic(hardware, 1).cycles, best.cycles);
      int ties = 0;
      network.for_each_tie(hardware, best.cycles, [&](const InflexibleDesign& tie) {
        EXPECT_DOUBLE_EQ(network.cycles(tie, hardware), best.cycles);
        ++ties;
      });
      EXPECT_GE(ties, 1);
    }
}

TEST(InflexibleDesign, NoOrderMovesFewerWordsThanTheBound) {
  const InflexibleNetwork network(small_network());
  for (const InflexibleNetwork::Shape& shape : network.shapes())
    for (const Count m : {1, 2, 6})
      for (const Count c : {1, 2, 6})
        for (const Count p : {1, 2, 4})
          for (const Count r : {1, 3}) {
            const std::array<Count, 6> tile = clipped_tile(shape, {m, c, p, 1, r, 1});
            std::array<int, 6> order{0, 1, 2, 3, 4, 5};
            double least = 1e300;
            do least = std::min(least, dram_words(shape, tile, order).longest());
            while (std::ranges::next_permutation(order).found);
            EXPECT_LE(least_dram_words(shape, tile), least);
            EXPECT_LE(compulsory_words(shape), least);
          }
}

/// Cycles of a network on the accelerator file that is made of a design, by the mapper.
double cycles_of_the_mapper(const InflexibleDesign& design, const Workload& workload, const std::string& half) {
  const TemporaryFolder folder;
  const Library library(std::filesystem::path(PLIANT_SOURCE_DIR) / "configs");
  const StudyContext context{library, folder.path(), folder.path() / "cache", true, 1, {}, {}};
  const std::filesystem::path file = write_accelerator(context, design, "test_design");
  const Accelerator accelerator = choose_flexibility(
      library, "InFlex-0000",
      load_accelerator(library, file.string(), {{"DRAM.read_bandwidth", half}, {"DRAM.write_bandwidth", half}}));
  double cycles = 0;
  for (const Workload::Entry& entry : workload.layers) {
    const Task task{entry.layer, accelerator, accelerator.flexibility_of(entry.layer), Factorization::kRubyS,
                    Objective::kRuntime};
    const SearchResult found = run_mapper(*make_mapper("exact"), task, {});
    EXPECT_TRUE(found.certified);
    cycles += static_cast<double>(entry.count) * found.totals.cycles;
  }
  return cycles;
}

/// Ports are rounded up to whole cycles, after divisions in another order: one cycle for each layer.
void expect_agreement(const InflexibleDesign& design, const Workload& workload) {
  double layers = 0;
  for (const Workload::Entry& entry : workload.layers) layers += static_cast<double>(entry.count);
  for (const char* half : {"0.5", "4", "500000"})
    EXPECT_NEAR(cycles_of_the_mapper(design, workload, half),
                InflexibleNetwork(workload).cycles(design, {design.rows * design.cols, 102400, std::stod(half)}),
                layers)
        << describe(design) << ", " << half;
}

TEST(InflexibleDesign, TheMapperAgreesWithTheClosedForm) {
  InflexibleDesign design;
  design.row_dim = kP;
  design.col_dim = kM;
  design.rows = 3;
  design.cols = 5;
  design.tile = {4, 2, 2, 1, 3, 1};
  design.order = {kR, kM, kP, kC, kQ, kS};
  expect_agreement(design, small_network());
}

/// A design that is wired in on every axis pays for no flexibility, whatever the family of a layer; what each axis adds
/// is what the paper prints for it (Table 3).
TEST(InflexibleDesign, PaysForNoFlexibility) {
  const TemporaryFolder folder;
  const Library library(std::filesystem::path(PLIANT_SOURCE_DIR) / "configs");
  const StudyContext context{library, folder.path(), folder.path() / "cache", true, 1, {}, {}};
  const InflexibleDesign design{kP, kM, 64, 16, {64, 32, 224, 2, 5, 3}, {kP, kC, kM, kQ, kS, kR}, 0};
  const Accelerator accelerator = load_accelerator(library, write_accelerator(context, design, "test_area").string());
  const auto area = [&](const char* flexibility) {
    return area_um2(choose_flexibility(library, flexibility, accelerator)).total();
  };
  EXPECT_DOUBLE_EQ(area("InFlex-0000"), 736843);
  EXPECT_DOUBLE_EQ(area("FullFlex-1000"), 736843 + 31);
  EXPECT_DOUBLE_EQ(area("FullFlex-0100"), 736843 + 1615);
  EXPECT_DOUBLE_EQ(area("FullFlex-0010"), 736843 + 877);
  EXPECT_DOUBLE_EQ(area("FullFlex-0001"), 736843 + 212);
}

TEST(InflexibleDesign, LargestDivisorIsTheLargest) {
  for (Count size = 1; size <= 200; ++size)
    for (Count limit = 1; limit <= 210; ++limit) {
      Count largest = 1;
      for (Count t = 1; t <= std::min(size, limit); ++t)
        if (size % t == 0) largest = t;
      EXPECT_EQ(largest_divisor(size, limit), largest) << size << ", " << limit;
    }
}

/// One of several tiles has no remainder of its own: 10 of 20 over 4 rows runs two at a time, since three would leave a
/// remainder in both tiles; 20 of 20 runs four at a time, 9 of 9 too with one unit left for the last round.
TEST(InflexibleDesign, OnlyAWholeDimHasARemainder) {
  EXPECT_EQ(steps_of(20, 10, 4), 10);
  EXPECT_EQ(steps_of(20, 20, 4), 5);
  EXPECT_EQ(steps_of(9, 9, 4), 3);
  EXPECT_EQ(steps_of(12, 6, 2, 3), 2);  // both sides: 2 x 3
  EXPECT_EQ(steps_of(16, 8, 3, 3), 4);  // 2 x 2, not 8
  EXPECT_EQ(steps_of(11, 11, 2, 3), 2);
  Workload network;
  network.layers = {{make_conv("a", {.M = 20, .C = 10, .P = 9}), 2},
                    {make_conv("d", {.M = 20, .C = 20, .P = 9, .R = 3, .groups = 20}), 1},
                    {make_gemm("g", {.M = 20, .N = 10, .K = 9}), 1}};
  const auto design = [](std::size_t a, std::size_t b, Count rows, Count cols, std::array<Count, 6> tile) {
    return InflexibleDesign{a, b, rows, cols, tile, {kP, kC, kM, kQ, kS, kR}, 0};
  };
  for (const InflexibleDesign& one :
       {design(kM, kP, 4, 4, {10, 5, 9, 1, 1, 1}), design(kM, kC, 4, 3, {10, 10, 3, 1, 3, 1}),
        design(kC, kM, 3, 7, {20, 5, 3, 1, 1, 1}), design(kC, kP, 4, 2, {10, 2, 20, 1, 3, 1}),
        design(kR, kC, 2, 6, {5, 20, 9, 1, 3, 1})})
    expect_agreement(one, network);
}

}  // namespace
}  // namespace pliant
