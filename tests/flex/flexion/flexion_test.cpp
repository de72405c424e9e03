// SPDX-License-Identifier: Apache-2.0
// The flexion values that the flexibility paper prints (Figs. 7, 9, 11 and text), on shipped files.
#include "flex/flexion/flexion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/input/load.h"
#include "support/random_space.h"
#include "support/shipped_library.h"

namespace pliant {
namespace {

Accelerator design(std::string_view flexibility) {
  return choose_flexibility(library(), flexibility, load_accelerator(library(), "flexref"));
}

const Workload& mnasnet() {
  static const Workload workload = load_workload(library(), "flexpaper_mnasnet");
  return workload;
}

LayerFlexion of(std::string_view flexibility, std::string_view layer) {
  const Accelerator accelerator = design(flexibility);
  const Layer& one = mnasnet().find(layer)->layer;
  return layer_flexion(one, accelerator, accelerator.flexibility_of(one), {.tile_tuples = false});
}

/// Rounded half up to so many digits, as the paper prints.
double printed(double value, int digits) {
  const double scale = std::pow(10, digits);
  return std::floor(value * scale + 0.5 + 1e-9) / scale;
}

TEST(Flexion, OrderPerLayer) {
  const auto row = [](std::string_view flexibility, std::string_view layer) {
    return of(flexibility, layer).of(Measure::kOrders);
  };
  for (const auto layer : {"L16", "L21"}) {
    EXPECT_EQ(printed(row("InFlex-0100", layer).h_f, 3), 0.001);
    EXPECT_EQ(printed(row("InFlex-0100", layer).w_f, 2), 0.04);
    EXPECT_EQ(printed(row("PartFlex-0100", layer).h_f, 3), 0.004);
    EXPECT_EQ(printed(row("PartFlex-0100", layer).w_f, 2), 0.13);
    EXPECT_EQ(row("FullFlex-0100", layer).h_f, 1);
    EXPECT_EQ(row("FullFlex-0100", layer).w_f, 1);
    EXPECT_EQ(row("PartFlex-0100", layer).a_and_w, "3");
    EXPECT_EQ(row("PartFlex-0100", layer).w, "24");
  }
  EXPECT_EQ(printed(row("InFlex-0100", "L29").w_f, 2), 0.01);
  EXPECT_EQ(printed(row("PartFlex-0100", "L29").w_f, 2), 0.03);
  EXPECT_EQ(row("FullFlex-0100", "L29").w_f, 1);
  EXPECT_EQ(row("PartFlex-0100", "L29").w, "120");
  EXPECT_EQ(row("PartFlex-0100", "L29").c, "720");
}

TEST(Flexion, OrderOfTheModelIsTheMeanOverItsLayers) {
  // The paper prints 0.01 and 0.03, the values of a depthwise layer; no mean over the 52 layers gives both.
  const FlexionOptions quick{.tile_tuples = false};
  EXPECT_NEAR(workload_flexion(mnasnet(), design("InFlex-0100"), quick).of(Measure::kOrders).w_f, 0.030, 5e-4);
  EXPECT_NEAR(workload_flexion(mnasnet(), design("PartFlex-0100"), quick).of(Measure::kOrders).w_f, 0.090, 5e-4);
  EXPECT_EQ(workload_flexion(mnasnet(), design("FullFlex-0100"), quick).of(Measure::kOrders).w_f, 1);
}

TEST(Flexion, Parallelism) {
  EXPECT_EQ(of("InFlex-0010", "L01").of(Measure::kPairs).c, "30");
  EXPECT_DOUBLE_EQ(of("InFlex-0010", "L01").of(Measure::kPairs).h_f, 1.0 / 30);
  EXPECT_DOUBLE_EQ(of("PartFlex-0010", "L01").of(Measure::kPairs).h_f, 2.0 / 30);
  EXPECT_EQ(of("FullFlex-0010", "L01").of(Measure::kPairs).h_f, 1);
  EXPECT_EQ(of("FullFlex-0010", "L01").of(Measure::kPairs).w, "30");
  EXPECT_EQ(of("FullFlex-0010", "L16").of(Measure::kPairs).w, "12");
  EXPECT_EQ(of("FullFlex-0010", "L29").of(Measure::kPairs).w, "20");
  EXPECT_EQ(of("FullFlex-0010", "L29").of(Measure::kPairs).w_f, 1);
  EXPECT_DOUBLE_EQ(of("InFlex-0010", "L29").of(Measure::kPairs).w_f, 1.0 / 20);
  EXPECT_DOUBLE_EQ(of("PartFlex-0010", "L29").of(Measure::kPairs).w_f, 2.0 / 20);
}

TEST(Flexion, ShapePerLayerAndModel) {
  struct Row {
    const char* flexibility;
    double h_f;
    double l15, l16, l25;
    double model;
  };
  for (const Row& row :
       {Row{"InFlex-0001", 0.001, 0.01, 0.03, 0.01, 0.0180}, Row{"PartFlex-0001-A", 0.004, 0.06, 0.08, 0.05, 0.0395},
        Row{"PartFlex-0001-B", 0.063, 0.25, 0.25, 0.25, 0.1966}, Row{"FullFlex-0001", 1, 1, 1, 1, 0.9829}}) {
    const auto shape = [&](const char* layer) { return of(row.flexibility, layer).of(Measure::kShapes); };
    EXPECT_EQ(printed(shape("L15").h_f, 3), row.h_f) << row.flexibility;
    EXPECT_EQ(printed(shape("L15").w_f, 2), row.l15) << row.flexibility;
    EXPECT_EQ(printed(shape("L16").w_f, 2), row.l16) << row.flexibility;
    EXPECT_EQ(printed(shape("L25").w_f, 2), row.l25) << row.flexibility;
    const WorkloadFlexion model = workload_flexion(mnasnet(), design(row.flexibility), {.tile_tuples = false});
    EXPECT_NEAR(model.of(Measure::kShapes).w_f, row.model, 6e-5) << row.flexibility;
    EXPECT_EQ(shape("L15").c, "1024");
  }
  EXPECT_EQ(of("PartFlex-0001-A", "L16").of(Measure::kShapes).a_and_w, "3");  // 16, 32 and 40
}

TEST(Flexion, ShapeFollowsTheArraySize) {
  struct Size {
    int side;
    double w_f;
  };
  for (const Size& size : {Size{16, 0.780}, Size{22, 0.899}, Size{32, 0.983}, Size{45, 1}, Size{64, 1}, Size{90, 1}}) {
    const std::string side = std::to_string(size.side);
    const Accelerator accelerator =
        choose_flexibility(library(), "0001", load_accelerator(library(), "flexref", {{"rows", side}, {"cols", side}}));
    EXPECT_NEAR(workload_flexion(mnasnet(), accelerator, {.tile_tuples = false}).of(Measure::kShapes).w_f, size.w_f,
                6e-4)
        << side;
  }
}

TEST(Flexion, TileVolumeOfAHardPartition) {
  EXPECT_NEAR(of("PartFlex-1000", "L01").of(Measure::kTileVolume).h_f, 6.0 / 27, 1e-12);
  EXPECT_EQ(of("FullFlex-1000", "L01").of(Measure::kTileVolume).h_f, 1);
  EXPECT_EQ(of("InFlex-1000", "L01").of(Measure::kTileVolume).a, "1");
  const Accelerator unequal = load_accelerator(library(), "flexref", {{"Buffer.partition", "2:1:1"}});
  const Layer& layer = mnasnet().layers[0].layer;
  EXPECT_NEAR(layer_flexion(layer, unequal, unequal.flexibility, {.tile_tuples = false}).of(Measure::kTileVolume).h_f,
              6.0 * 2 / 64, 1e-12);
}

TEST(Flexion, TileTuplesOfALayerAreCountedExactly) {
  const Layer layer = make_conv("small", {.M = 7, .C = 5, .P = 6, .Q = 4, .R = 3, .S = 2});
  Accelerator accelerator = design("PartFlex-1000");
  for (const Count capacity : {40, 120, 300, 5000}) {
    accelerator.levels[1].memory().capacity_words = capacity;
    const TileSpace space(layer, accelerator, 1, accelerator.flexibility.levels[1].tile);
    std::uint64_t listed = 0;
    space.for_each([&](std::span<const Count> tile) {
      EXPECT_TRUE(space.contains(tile));
      return ++listed > 0;
    });
    EXPECT_EQ(*space.count(), listed);
    std::uint64_t plain = 0;
    std::vector<Count> tile(6, 1);
    const auto walk = [&](auto&& self, std::size_t d) -> void {
      if (d == 6) {
        plain += space.contains(tile) ? 1 : 0;
        return;
      }
      for (tile[d] = 1; tile[d] <= layer.dims[d].size; ++tile[d]) self(self, d + 1);
    };
    walk(walk, 0);
    EXPECT_EQ(plain, listed);
    const LayerFlexion flexion = layer_flexion(layer, accelerator, accelerator.flexibility);
    EXPECT_EQ(flexion.of(Measure::kTileTuples).a_and_w, std::to_string(listed));
    EXPECT_EQ(flexion.of(Measure::kTileTuples).w, std::to_string(7 * 5 * 6 * 4 * 3 * 2));
    const TileSpace::Estimate estimate = TileSpace::estimate(space, space, 20'000, 3);
    EXPECT_NEAR(estimate.whole.value, static_cast<double>(listed), 2 * (estimate.whole.high - estimate.whole.low));
  }
}

TEST(Flexion, TileTuplesOfTheHardware) {
  // GEMM triples in 102400 words are counted; a convolution's tuples are sampled.
  const Accelerator accelerator = design("PartFlex-1000");
  const Layer gemm = make_gemm("gemm", {.M = 64, .N = 64, .K = 64});
  const AxisFlexion triples =
      layer_flexion(gemm, accelerator, accelerator.flexibility_of(gemm)).of(Measure::kTileTuples);
  EXPECT_NEAR(triples.h_f, 0.369, 1e-3);
  EXPECT_FALSE(triples.h_f_interval.has_value());
  const Layer& conv = mnasnet().layers[15].layer;
  const AxisFlexion tuples =
      layer_flexion(conv, accelerator, accelerator.flexibility_of(conv)).of(Measure::kTileTuples);
  ASSERT_TRUE(tuples.h_f_interval.has_value());
  EXPECT_NEAR(tuples.h_f, 0.310, 3e-3);  // the published 6/27 is a ratio of volumes, not of tuples
  EXPECT_LT(tuples.h_f_interval->high - tuples.h_f_interval->low, 0.02);
}

TEST(Flexion, IsAShareOnRandomDesigns) {
  testing::RandomSpaces random(17);
  for (int i = 0; i < 300; ++i) {
    const Layer layer = random.layer(9);
    Accelerator accelerator = random.accelerator();
    const Flexibility flexibility = random.flexibility(layer, accelerator);
    const LayerFlexion flexion = layer_flexion(layer, accelerator, flexibility, {.samples = 500});
    for (const AxisFlexion& axis : flexion.axes) {
      EXPECT_GT(axis.h_f, 0) << to_string(axis.measure);
      EXPECT_LE(axis.h_f, 1 + 1e-12) << to_string(axis.measure);
      EXPECT_GE(axis.w_f, 0) << to_string(axis.measure);
      EXPECT_LE(axis.w_f, 1 + 1e-12) << to_string(axis.measure);
    }
    accelerator.hints.min_utilization = 0.8;
    const LayerFlexion hinted = layer_flexion(layer, accelerator, flexibility, {.samples = 500});
    for (std::size_t a = 0; a < flexion.axes.size(); ++a) EXPECT_EQ(hinted.axes[a].w_f, flexion.axes[a].w_f);
  }
}

TEST(Flexion, ClassesMultiplyTheirAxes) {
  const LayerFlexion part = of("PartFlex-1111", "L16");
  EXPECT_DOUBLE_EQ(part.h_f({false, true, false, true}), 3.0 / 720 * 4 / 1024);
  EXPECT_DOUBLE_EQ(part.w_f({false, true, false, true}), 3.0 / 24 * 3 / 40);
  EXPECT_EQ(part.h_f({}), 1);
}

}  // namespace
}  // namespace pliant
