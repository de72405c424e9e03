// SPDX-License-Identifier: Apache-2.0
// The time of systolic arrays, worked out by hand: R * w + R + C - 2 cycles for every tile, or, with shadow registers,
// for the first one and what later ones take longer to come than the steps before them last.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include <fmt/format.h>

#include "core/input/load.h"
#include "core/input/load_mapping.h"
#include "core/legality.h"
#include "costmodel/report.h"

namespace pliant {
namespace {

const Library& library() {
  static const Library shipped(PLIANT_SOURCE_DIR "/configs");
  return shipped;
}

Accelerator accelerator(const std::string& levels) {
  return parse_accelerator_text(library(), "pliant: accelerator\nname: systolic\nlevels:\n" + levels, "array.yaml");
}

/// A legal mapping's cycles. Loops as "LEVEL DIM BOUND", outermost first; at a fanout, "LEVEL rows|cols DIM BOUND".
struct At {
  const char* level;
  const char* dim;
  Count bound;
  std::optional<Side> side{};
};

CostReport priced(const Accelerator& accelerator, const Layer& layer, std::initializer_list<At> loops,
                  Factorization factorization = Factorization::kPerfect) {
  Mapping mapping = empty_mapping(layer, accelerator);
  for (const At& loop : loops) {
    LevelMapping& level = mapping.levels[static_cast<std::size_t>(accelerator.find_level(loop.level))];
    if (loop.side)
      level.spatial.push_back({layer.find_dim(loop.dim), loop.bound, *loop.side});
    else
      level.temporal.push_back({layer.find_dim(loop.dim), loop.bound});
  }
  const auto broken = check_legality(layer, accelerator, accelerator.flexibility_of(layer), factorization, mapping);
  for (const auto& violation : broken) ADD_FAILURE() << violation.message;
  return price(layer, accelerator, mapping);
}

double cycles(const Accelerator& a, const Layer& layer, std::initializer_list<At> loops,
              Factorization factorization = Factorization::kPerfect) {
  return priced(a, layer, loops, factorization).totals.cycles;
}

constexpr Side kRows = Side::kRows, kCols = Side::kCols;

// ---- Held by the compute units: no memory inside the array keeps what stays ----

TEST(SystolicArray, WhoseUnitsHoldTheWeights) {
  const Accelerator a = accelerator(R"(
  - {memory: DRAM, capacity: unbounded, read_pj: 1}
  - {fanout: Array, rows: 4, cols: 4, systolic: weights}
  - {compute: MAC, mac_pj: 1}
)");
  // No loop moves the weights: one tile. 16 + (4 + 4 + 4 - 2).
  EXPECT_EQ(cycles(a, make_gemm("g", {.M = 16, .N = 4, .K = 4}),
                   {{"DRAM", "M", 16}, {"Array", "K", 4, kRows}, {"Array", "N", 4, kCols}}),
            26);
  // N moves them twice, outside M: two tiles of 16 steps. Inside M every step brings another.
  const Layer wide = make_gemm("g", {.M = 16, .N = 8, .K = 4});
  EXPECT_EQ(cycles(a, wide, {{"DRAM", "N", 2}, {"DRAM", "M", 16}, {"Array", "K", 4, kRows}, {"Array", "N", 4, kCols}}),
            32 + 2 * 10);
  EXPECT_EQ(cycles(a, wide, {{"DRAM", "M", 16}, {"DRAM", "N", 2}, {"Array", "K", 4, kRows}, {"Array", "N", 4, kCols}}),
            32 + 32 * 10);
}

TEST(SystolicArray, WhoseUnitsHoldTheOutputs) {
  const Accelerator a = accelerator(R"(
  - {memory: DRAM, capacity: unbounded, read_pj: 1}
  - {fanout: Array, rows: 3, cols: 4, systolic: outputs}
  - {memory: Operands, capacity: unbounded, keeps: [inputs, weights], read_pj: 1}
  - {compute: MAC, mac_pj: 1}
)");
  // K runs in time and leaves the sum where it is: 2 + (3 + 3 + 4 - 2).
  const Layer sum = make_gemm("g", {.M = 1, .N = 1, .K = 2});
  EXPECT_EQ(cycles(a, sum, {{"DRAM", "K", 2}}), 10);
  EXPECT_EQ(cycles(a, sum, {{"Operands", "K", 2}}), 10);
  // The dim of another output inside the sum: each of the 2 x 5 steps has another output.
  EXPECT_EQ(cycles(a, make_gemm("g", {.M = 5, .N = 1, .K = 2}), {{"DRAM", "K", 2}, {"Operands", "M", 5}}), 10 + 10 * 8);
}

// ---- Shadow registers: 64 x 64 units, one weight and its successor in each ----

Accelerator shadowed(const char* buffers) {
  return accelerator(fmt::format(R"(
  - {{memory: DRAM, capacity: unbounded, read_pj: 1}}
  - {{fanout: Array, rows: 64, cols: 64, systolic: weights}}
  - {{memory: WReg, capacity: 2, buffers: {}, keeps: [weights], read_pj: 1}}
  - {{compute: MAC, mac_pj: 1}}
)",
                                 buffers));
}

TEST(SystolicArray, ShadowRegistersHideAllButTheFirstFill) {
  const Accelerator plain = shadowed("1"), shadow = shadowed("2");
  // 1. ResNet-50 conv4_2c, 14 x 14 pixels, 256 channels to 1024: 4 x 16 tiles of 196 steps, longer than 64 cycles.
  const Layer conv4_2c = make_conv("conv4_2c", {.M = 1024, .C = 256, .P = 14, .Q = 14});
  const std::initializer_list<At> tiles64 = {{"DRAM", "M", 16}, {"DRAM", "C", 4},          {"DRAM", "P", 14},
                                             {"DRAM", "Q", 14}, {"Array", "C", 64, kRows}, {"Array", "M", 64, kCols}};
  EXPECT_EQ(cycles(plain, conv4_2c, tiles64), 64 * (196 + 190));
  EXPECT_EQ(cycles(shadow, conv4_2c, tiles64), 64 * 196 + 64 + 126);
  // 2. ResNet-50 conv5_1b, 7 x 7 pixels, 3 x 3, 512 to 512: 8 x 8 x 9 tiles of 49 steps; each but the last waits 15.
  const Layer conv5_1b = make_conv("conv5_1b", {.M = 512, .C = 512, .P = 7, .Q = 7, .R = 3, .S = 3});
  const std::initializer_list<At> tiles576 = {{"DRAM", "M", 8},          {"DRAM", "C", 8},         {"DRAM", "R", 3},
                                              {"DRAM", "S", 3},          {"DRAM", "P", 7},         {"DRAM", "Q", 7},
                                              {"Array", "C", 64, kRows}, {"Array", "M", 64, kCols}};
  EXPECT_EQ(cycles(plain, conv5_1b, tiles576), 576 * (49 + 190));
  EXPECT_EQ(cycles(shadow, conv5_1b, tiles576), 576 * 49 + 190 + 575 * (64 - 49));
  // 3. A fully connected layer, one row of inputs: 32 x 16 tiles of one step; the array is filled all the time.
  const Layer fc = make_gemm("fc", {.M = 1, .N = 1024, .K = 2048});
  EXPECT_EQ(
      cycles(shadow, fc, {{"DRAM", "N", 16}, {"DRAM", "K", 32}, {"Array", "K", 64, kRows}, {"Array", "N", 64, kCols}}),
      512 * 64 + 1 + 126);
  // 4. BERT's attention output, 512 rows, 768 to 768: 12 x 12 tiles of 512 steps.
  const Layer attention = make_gemm("attn", {.M = 512, .N = 768, .K = 768});
  EXPECT_EQ(cycles(shadow, attention,
                   {{"DRAM", "N", 12},
                    {"DRAM", "K", 12},
                    {"DRAM", "M", 512},
                    {"Array", "K", 64, kRows},
                    {"Array", "N", 64, kCols}}),
            144 * 512 + 190);
  // 5. Its rows in 100 + 100 + 100 + 100 + 100 + 12, the blocks outside the weights (Ruby-T): 6 x 4 tiles, of which
  //    those of the last block have 12 steps and wait 52 each, all but the very last.
  const Layer short_end = make_gemm("rows", {.M = 512, .N = 128, .K = 128});
  EXPECT_EQ(cycles(shadow, short_end,
                   {{"DRAM", "M", 6},
                    {"DRAM", "N", 2},
                    {"DRAM", "K", 2},
                    {"WReg", "M", 100},
                    {"Array", "K", 64, kRows},
                    {"Array", "N", 64, kCols}},
                   Factorization::kRubyT),
            4 * 512 + 190 + 3 * (64 - 12));
}

TEST(SystolicArray, TheLastDrainOfOutputsShows) {
  // Outputs in two buffers of two words: they leave while the next are summed. 4 x 2 units; K = 3 in time, M = 10 in
  // tiles of 2, 5 tiles of 6 steps; a tile of 2 words takes 4 * 2 cycles to leave.
  const Accelerator a = accelerator(R"(
  - {memory: DRAM, capacity: unbounded, read_pj: 1}
  - {fanout: Array, rows: 4, cols: 2, systolic: outputs}
  - {memory: Sums, capacity: 4, buffers: 2, keeps: [outputs], read_pj: 1}
  - {compute: MAC, mac_pj: 1}
)");
  EXPECT_EQ(cycles(a, make_gemm("g", {.M = 10, .N = 2, .K = 3}),
                   {{"DRAM", "M", 5}, {"Sums", "K", 3}, {"Sums", "M", 2}, {"Array", "N", 2, kCols}}),
            5 * 6 + 8 + 4 + 4 * (8 - 6));
}

TEST(SystolicArray, MayHaveAccumulatorsBetweenItsColumnsAndRows) {
  // Accumulators under every column: the array is two fanouts, and one array of 8 rows and 4 columns.
  const Accelerator a = accelerator(R"(
  - {memory: DRAM, capacity: unbounded, read_pj: 1}
  - {fanout: Columns, cols: 4, systolic: weights}
  - {memory: Accumulators, capacity: 64, keeps: [outputs], read_pj: 1}
  - {fanout: Rows, rows: 8, systolic: weights}
  - {memory: WReg, capacity: 1, keeps: [weights], read_pj: 1}
  - {compute: MAC, mac_pj: 1}
)");
  const CostReport report =
      priced(a, make_gemm("g", {.M = 16, .N = 4, .K = 16}),
             {{"DRAM", "K", 2}, {"Accumulators", "M", 16}, {"Columns", "N", 4, kCols}, {"Rows", "K", 8, kRows}});
  EXPECT_EQ(report.totals.cycles, 2 * (16 + 8 + 8 + 4 - 2));
  EXPECT_EQ(report.bound_by, "Columns fill");
  EXPECT_EQ(report.levels[1].fill_cycles, 2 * 18);
}

TEST(SystolicArray, IsBoundByTheLongerOfItsStepsAndItsFills) {
  // 4 x 4 units: a tile fills the array in 4 + 4 + 4 - 2 = 10 cycles.
  const Accelerator a = accelerator(R"(
  - {memory: DRAM, capacity: unbounded, read_pj: 1}
  - {fanout: Array, rows: 4, cols: 4, systolic: weights}
  - {memory: WReg, capacity: 1, keeps: [weights], read_pj: 1}
  - {compute: MAC, mac_pj: 1}
)");
  const auto bound_by = [&](Count rows) {
    return priced(a, make_gemm("g", {.M = rows, .N = 4, .K = 4}),
                  {{"DRAM", "M", rows}, {"Array", "N", 4, kCols}, {"Array", "K", 4, kRows}})
        .bound_by;
  };
  EXPECT_EQ(bound_by(9), "Array fill");
  EXPECT_EQ(bound_by(10), "compute");
  EXPECT_EQ(bound_by(1000), "compute");
}

// ---- Rows that sum ----

TEST(SystolicArray, TakesNoDimOfOutputsOverRowsThatSum) {
  const auto refused = [](const std::string& fanout, const Layer& layer, const char* dim, Side side) {
    const Accelerator a = accelerator("  - {memory: DRAM, capacity: unbounded, read_pj: 1}\n  - {" + fanout +
                                      "}\n  - {compute: MAC, mac_pj: 1}\n");
    Mapping mapping = empty_mapping(layer, a);
    const int d = layer.find_dim(dim);
    mapping.levels[0].temporal.push_back({d, layer.dims[static_cast<std::size_t>(d)].size / 2});
    mapping.levels[1].spatial.push_back({d, 2, side});
    for (std::size_t other = 0; other < layer.dims.size(); ++other)
      if (static_cast<int>(other) != d && layer.dims[other].size > 1)
        mapping.levels[0].temporal.push_back({static_cast<int>(other), layer.dims[other].size});
    const auto broken = check_legality(layer, a, a.flexibility_of(layer), Factorization::kPerfect, mapping);
    return broken.empty() ? std::string() : broken.front().message;
  };
  const Layer depthwise = make_conv("dw", {.M = 4, .C = 4, .P = 2, .Q = 2, .R = 2, .S = 2, .groups = 4});
  const Layer gemm = make_gemm("g", {.M = 4, .N = 4, .K = 4});
  EXPECT_EQ(refused("fanout: A, rows: 2, cols: 2, systolic: weights", depthwise, "C", kRows),
            "the rows of A sum; C, which is an index of Outputs, may not run over them");
  EXPECT_EQ(refused("fanout: A, rows: 2, cols: 2, systolic: weights", depthwise, "C", kCols), "");
  EXPECT_EQ(refused("fanout: A, rows: 2, cols: 2, systolic: weights", depthwise, "R", kRows), "");
  EXPECT_EQ(refused("fanout: A, rows: 2, cols: 2, systolic: inputs", gemm, "M", kRows),
            "the rows of A sum; M, which is an index of Outputs, may not run over them");
  EXPECT_EQ(refused("fanout: A, rows: 2, cols: 2, systolic: outputs", gemm, "M", kRows), "");
  EXPECT_EQ(refused("fanout: A, rows: 2, cols: 2, reduction: cols", gemm, "N", kCols),
            "the columns of A sum; N, which is an index of Outputs, may not run over them");
  EXPECT_EQ(refused("fanout: A, rows: 2, cols: 2, reduction: cols", gemm, "N", kRows), "");
  EXPECT_EQ(refused("fanout: A, rows: 2, cols: 2, reduction: always", gemm, "K", kRows), "");
  EXPECT_NE(refused("fanout: A, rows: 2, cols: 2, reduction: always", gemm, "N", kRows), "");
}

}  // namespace
}  // namespace pliant
