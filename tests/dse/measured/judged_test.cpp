// SPDX-License-Identifier: Apache-2.0
// Bounds, predictions and fits of kernels on a chip.
#include "dse/measured/judged.h"

#include <gtest/gtest.h>

#include "core/input/diagnostics.h"
#include "core/input/load.h"
#include "core/input/prediction_block.h"
#include "dse/measured/fit.h"
#include "dse/measured/measured_charts.h"
#include "dse/measured/summary_of_rows.h"
#include "support/shipped_library.h"

namespace pliant {
namespace {

Measurement gemm(Count M, Count N, Count K, double seconds) {
  Measurement m;
  m.name = "gemm";
  m.layers = {make_gemm("gemm", {1, M, N, K})};
  m.bytes = 2 * static_cast<double>(M * K + K * N + M * N);
  m.seconds = seconds;
  return m;
}

Judge judge() { return Judge(load_accelerator(library(), "h200"), {}); }

// 8192 x 8192 weights are 134 MB: 28 us at 4.8 TB/s. 4096^3 multiply-adds over 270,336 a cycle at 1.98 GHz: 128 us.
TEST(Judged, BoundsByHand) {
  Measurement thin = gemm(1, 8192, 8192, 30e-6), square = gemm(4096, 4096, 4096, 200e-6);
  Measurement copy;
  copy.kind = KernelKind::kCopy;
  copy.bytes = 4.8e6;
  copy.seconds = 0.9e-6;
  const std::vector<KernelBound> bounds = judge().bounds({thin, square, copy});
  EXPECT_NEAR(bounds[0].seconds, thin.bytes / 4.8e12, 1e-9);
  EXPECT_EQ(bounds[0].by, "HBM bus");
  EXPECT_DOUBLE_EQ(bounds[0].roofline_s, thin.bytes / 4.8e12);
  EXPECT_NEAR(bounds[1].roofline_s, 68719476736.0 / 270336 / 1.98e9, 1e-12);
  EXPECT_GE(bounds[1].seconds, bounds[1].roofline_s * 0.999);
  EXPECT_LE(bounds[1].seconds, bounds[1].roofline_s * 1.05);
  EXPECT_FALSE(bounds[1].violated);
  EXPECT_DOUBLE_EQ(bounds[2].seconds, 1e-6);
  EXPECT_TRUE(bounds[2].violated) << "a copy above the bandwidth";
}

TEST(Judged, WarmBytesLowerTheBoundAloneOfThree) {
  const Measurement cold = gemm(16, 8192, 8192, 40e-6);
  Measurement half = cold, warm = cold;
  half.warm_bytes = cold.bytes / 2;
  warm.warm_bytes = cold.bytes;
  const std::vector<KernelBound> bounds = judge().bounds({cold, half, warm});
  EXPECT_NEAR(bounds[1].seconds / bounds[0].seconds, 0.5, 0.01);
  EXPECT_LT(bounds[2].seconds, bounds[1].seconds);
  EXPECT_EQ(bounds[2].roofline_s, cold.bytes / 4.8e12);
  const auto figures = load_prediction(library(), "h200", {}, judge().accelerator());
  const auto said = judge().predictions({cold, warm}, *figures);
  EXPECT_EQ(said[0].predicted.seconds, said[1].predicted.seconds);
  EXPECT_GT(said[0].predicted.seconds, bounds[0].seconds);
}

TEST(Fit, FindsFiguresThatWerePlanted) {
  const Judge h200 = judge();
  PredictionFigures planted = *load_prediction(library(), "h200", {}, h200.accelerator());
  planted.overhead_s = 5e-6;
  planted.achievable[0] = 0.7;
  std::vector<Measurement> rows;
  for (const Count n : {1024, 2048, 4096, 8192, 16384, 32768})
    for (const Count m : {1, 256}) rows.push_back(gemm(m, n, 2048, 1));
  const auto truth = h200.predictions(rows, planted);
  for (std::size_t r = 0; r < rows.size(); ++r) rows[r].seconds = truth[r].predicted.seconds;
  const PredictionFigures found =
      fit(h200, rows, std::vector<bool>(rows.size(), true), parse_figures("overhead,achievable", h200.accelerator()),
          *load_prediction(library(), "h200", {}, h200.accelerator()));
  EXPECT_NEAR(found.overhead_s, 5e-6, 0.1e-6);
  EXPECT_NEAR(found.achievable[0], 0.7, 0.01);
  EXPECT_EQ(found.achievable[1], 1);
  EXPECT_THROW(parse_figures("overhead,achievable.HBN", h200.accelerator()), InputError);
}

TEST(Fit, HalvesAreHalvesAndFollowTheSeed) {
  const std::vector<bool> half = one_half(101, 1);
  EXPECT_EQ(std::ranges::count(half, true), 51);
  EXPECT_EQ(half, one_half(101, 1));
  EXPECT_NE(half, one_half(101, 2));
}

TEST(Judged, ClassesCountEveryAlignedKernelOnce) {
  std::vector<Measurement> rows{gemm(1, 8, 8, 1e-6), gemm(8, 8, 8, 30e-6), gemm(8, 8, 8, 30e-6)};
  rows[2].aligned = false;
  std::vector<KernelBound> bounds(3);
  for (KernelBound& bound : bounds) bound = {1e-6, "compute", 0.5e-6, false};
  const auto classes = classes_of(rows, bounds, {}, {true, true, true});
  ASSERT_EQ(classes.size(), 5U);
  EXPECT_EQ(classes.back().name, "aligned, all");
  EXPECT_EQ(classes.back().kernels, 2U);
  EXPECT_DOUBLE_EQ(classes.back().above_bound, 15.5);
  EXPECT_NEAR(classes.back().roofline.mean, (0.5 + 1 - 0.5 / 30) / 2, 1e-12);
  EXPECT_EQ(measured_table(rows, bounds, {}, {}).rows(), 3U);
}

}  // namespace
}  // namespace pliant
