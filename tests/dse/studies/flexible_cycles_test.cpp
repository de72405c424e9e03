// SPDX-License-Identifier: Apache-2.0
// What a design takes when some axes follow the layer: the closed form against all choices one by one, and against the
// mapper.
#include "dse/studies/flexible_cycles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/arithmetic.h"
#include "dse/studies/five_numbers.h"
#include "dse/studies/inflexible_cost.h"
#include "dse/studies/pe_tiles.h"
#include "support/shipped_library.h"

namespace pliant {
namespace {

Workload two_layers() {
  Workload network;
  network.name = "small";
  network.layers = {{make_conv("a", {.M = 4, .C = 2, .P = 3, .R = 2}), 2},
                    {make_conv("d", {.M = 4, .C = 4, .P = 3, .R = 2, .groups = 4}), 1}};
  return network;
}

InflexibleDesign some_design() {
  InflexibleDesign design;
  design.row_dim = kM;
  design.col_dim = kP;
  design.rows = 3;
  design.cols = 2;
  design.tile = {2, 2, 1, 1, 2, 1};
  design.order = {kP, kQ, kM, kC, kR, kS};
  return design;
}

/// The least over every choice of the free axes, each layer by itself. A design whose tile fits one layer is one of it.
double least_by_hand(const InflexibleHardware& hardware, const FreeAxes& free) {
  double sum = 0;
  for (const Workload::Entry& entry : two_layers().layers) {
    Workload alone;
    alone.layers = {{entry.layer, 1}};
    const InflexibleNetwork layer(alone);
    const InflexibleNetwork::Shape& shape = layer.shapes().front();
    double least = kInfinity;
    InflexibleDesign design = some_design();
    const auto orders = [&] {
      if (!free.order) {
        least = std::min(least, layer.cycles(design, hardware));
        return;
      }
      std::iota(design.order.begin(), design.order.end(), 0);
      do least = std::min(least, layer.cycles(design, hardware));
      while (std::ranges::next_permutation(design.order).found);
      design.order = some_design().order;
    };
    const auto tiles = [&](const auto& self, std::size_t dim) -> void {
      if (!free.tile || dim == 6) {
        const auto clipped = clipped_tile(shape, design.tile);
        Count words = clipped[kC] * (clipped[kP] + clipped[kR] - 1) * (clipped[kQ] + clipped[kS] - 1) +
                      (shape.depthwise ? 1 : clipped[kM]) * clipped[kC] * clipped[kR] * clipped[kS] +
                      (shape.depthwise ? clipped[kC] : clipped[kM]) * clipped[kP] * clipped[kQ];
        if (!free.tile || words <= hardware.buffer_words) orders();
        return;
      }
      for (Count size = 1; size <= (dim == kQ || dim == kS ? 1 : 4); ++size) {
        design.tile[dim] = size;
        self(self, dim + 1);
      }
    };
    for (std::size_t a = 0; a < 6; ++a)
      for (std::size_t b = 0; b < 6; ++b) {
        if (!free.parallel && (a != kM || b != kP)) continue;
        for (Count rows = 1; rows <= hardware.units; ++rows) {
          if (!free.shape && rows != 3) continue;
          design = some_design();
          design.row_dim = a;
          design.col_dim = b;
          design.rows = rows;
          design.cols = free.shape ? hardware.units / rows : 2;
          tiles(tiles, 0);
        }
      }
    sum += least * static_cast<double>(entry.count);
  }
  return sum;
}

TEST(FlexibleCycles, EveryClassIsTheLeastOfItsChoices) {
  const InflexibleNetwork network(two_layers());
  for (const double words : {0.0, 2.0, 6.0}) {
    const InflexibleHardware hardware{6, 16, words};
    FlexibleCycles flexible(network, hardware);
    double none = 0;
    for (int bits = 0; bits < 16; ++bits) {
      std::string text;
      for (int axis = 3; axis >= 0; --axis) text += (bits >> axis & 1) != 0 ? '1' : '0';
      const FreeAxes free = free_axes(text);
      if (free.tile && free.order) continue;  // long by hand
      const double cycles = flexible.cycles(some_design(), free);
      EXPECT_NEAR(cycles, least_by_hand(hardware, free), 1e-9 * cycles) << text << " with " << words;
      if (bits == 0) none = cycles;
      EXPECT_LE(cycles, none) << text;
    }
    EXPECT_NEAR(none, network.cycles(some_design(), hardware), 1e-9 * none);
  }
}

TEST(FiveNumbers, AreOfTheList) {
  EXPECT_EQ(five_numbers({5, 1, 4, 2, 3}), (std::array<double, 5>{1, 2, 3, 4, 5}));
  EXPECT_EQ(five_numbers({7}), (std::array<double, 5>{7, 7, 7, 7, 7}));
}

/// Mappings that were counted by hand, of a public description of the two tools (their search's best ones).
TEST(PeTiles, CountedByHand) {
  std::map<std::string, double> counted;
  for (const GammaRun& run : read_gamma_runs(library()))
    counted[run.layer] = cycles_of(run.outputs, run.mapping, run.depthwise);
  EXPECT_EQ(counted.at("MnasNet L16"), 840 + 840 + 672 + 760 + 760 + 608);
  // Divisor tiles of L25: K over 512 clusters of two PEs, C 16 then 5: 20 * 490.
  PeTiles divisors;
  divisors.clusters_over = 0;
  divisors.pes_over = 1;
  divisors.pes = 2;
  divisors.clusters = 512;
  divisors.outer = {1, 16, 7, 7, 1, 1};
  divisors.inner = {1, 5, 7, 1, 1, 1};
  EXPECT_EQ(cycles_of({480, 80, 14, 14, 1, 1}, divisors, false), 9800);
  EXPECT_EQ(fullest_unit(100, 5, 6), 20);  // three rounds of 30, then 10 on two units: 5 each
  EXPECT_EQ(fullest_unit(3, 64, 16), 3);
}

/// No mapping takes less than its MACs over all PEs, whatever is reported for it.
TEST(PeTiles, NothingIsBelowTheMacs) {
  for (const GammaRun& run : read_gamma_runs(library())) {
    EXPECT_GE(cycles_of(run.outputs, run.mapping, run.depthwise), macs_of(run.outputs) / 1024) << run.layer;
    EXPECT_LT(run.reported, macs_of(run.outputs) / 1024) << run.layer;
    if (run.closed > 0) {
      EXPECT_GE(run.closed, macs_of(run.inputs) / 1024) << run.layer;
    }
  }
}

}  // namespace
}  // namespace pliant
