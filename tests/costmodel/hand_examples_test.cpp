// SPDX-License-Identifier: Apache-2.0
// Small cases whose numbers can be worked out on paper: the papers' own examples and one line of the model each.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "core/affine.h"
#include "core/legality.h"
#include "costmodel/report.h"

namespace pliant {
namespace {

Level memory(const char* name, std::optional<Count> words = {}, double read = 1, double write = 1) {
  Memory m;
  m.capacity_words = words;
  m.read_pj = read;
  m.write_pj = m.update_pj = write;
  m.may_bypass = {true, true, true};
  return {name, m};
}

Level array(const char* name, Count rows, Count cols) {
  Fanout f;
  f.rows = rows;
  f.cols = cols;
  return {name, f};
}

Level mac(double pj = 1) {
  Compute c;
  c.mac_pj = pj;
  return {"MAC", c};
}

Accelerator chain(std::vector<Level> levels, const Conventions& conventions) {
  Accelerator a;
  a.name = "chain";
  a.levels = std::move(levels);
  a.conventions = conventions;
  a.flexibility.levels.resize(a.levels.size());
  return a;
}

/// One loop nest written down level by level; everything is kept everywhere.
class Nested {
 public:
  Nested(Layer l, Accelerator a) : layer(std::move(l)), accelerator(std::move(a)) {
    mapping = empty_mapping(layer, accelerator);
  }
  Nested& temporal(const char* level, const char* dim, Count bound) {
    mapping.levels[accelerator.find_level(level)].temporal.push_back({layer.find_dim(dim), bound});
    return *this;
  }
  Nested& spatial(const char* level, const char* dim, Count bound, Side side = Side::kCols) {
    mapping.levels[accelerator.find_level(level)].spatial.push_back({layer.find_dim(dim), bound, side});
    return *this;
  }
  Nested& bypass(const char* level, const char* tensor) {
    mapping.levels[accelerator.find_level(level)].keeps &= ~(TensorSet{1} << layer.find_tensor(tensor));
    return *this;
  }
  CostReport priced() const { return price(layer, accelerator, mapping); }

  Layer layer;
  Accelerator accelerator;
  Mapping mapping;
};

/// reads/fills/updates of one tensor at one level, per instance.
std::array<double, 3> triple(const Nested& nest, const CostReport& report, const char* level, const char* tensor) {
  const LevelCost& at = report.levels[nest.accelerator.find_level(level)];
  const TensorCost& cost = at.tensors[nest.layer.find_tensor(tensor)];
  return {cost.reads / at.instances_average, cost.fills / at.instances_average, cost.updates / at.instances_average};
}
using Triple = std::array<double, 3>;

Layer vector_of(Count size) { return make_gemm("vector", {.M = size}); }

Layer conv_1d(Count P, Count R, Count M = 1, Count C = 1, Count stride = 1) {
  return make_conv("conv", {.M = M, .C = C, .P = P, .R = R, .stride_p = stride});
}

// ---- Ruby: imperfect factors ----

TEST(Ruby, HundredOverSixUnitsTakesSeventeenCyclesAgainstTwenty) {
  const Accelerator six = chain({memory("DRAM"), array("PEs", 1, 6), memory("RF"), mac()}, Conventions::physical());
  Nested imperfect(vector_of(100), six);
  imperfect.temporal("DRAM", "M", 17).spatial("PEs", "M", 6);
  EXPECT_TRUE(check_legality(imperfect.layer, six, six.flexibility, Factorization::kRubyS, imperfect.mapping).empty());
  EXPECT_FALSE(
      check_legality(imperfect.layer, six, six.flexibility, Factorization::kPerfect, imperfect.mapping).empty());
  const CostReport ruby = imperfect.priced();
  EXPECT_EQ(ruby.totals.cycles, 17);
  EXPECT_EQ(ruby.macs, 100);
  EXPECT_DOUBLE_EQ(ruby.totals.utilization, 100.0 / (17 * 6));
  EXPECT_DOUBLE_EQ(ruby.levels[2].instances_average, 100.0 / 17);
  const CostReport perfect = Nested(vector_of(100), six).temporal("DRAM", "M", 20).spatial("PEs", "M", 5).priced();
  EXPECT_EQ(perfect.totals.cycles, 20);
}

TEST(Ruby, PrimesOnSixteenUnits) {
  const Accelerator sixteen =
      chain({memory("DRAM"), array("PEs", 1, 16), memory("RF"), mac(2.5)}, Conventions::physical());
  // 127 is prime: no parallelism with perfect factors, 8 rounds with a remainder, 8 rounds padded to 128.
  EXPECT_EQ(Nested(vector_of(127), sixteen).temporal("DRAM", "M", 127).priced().totals.cycles, 127);
  EXPECT_EQ(Nested(vector_of(127), sixteen).temporal("DRAM", "M", 8).spatial("PEs", "M", 16).priced().totals.cycles, 8);
  // 113: eight rounds either way, but padding to 128 works (and pays) for 15 elements more, 12 % of what it does.
  for (const Count size : {Count{127}, Count{113}}) {
    Nested nest(vector_of(size), sixteen);
    nest.temporal("DRAM", "M", 8).spatial("PEs", "M", 16);
    const CostReport ruby = nest.priced();
    nest.mapping.padded.assign(nest.layer.dims.size(), 1);
    nest.mapping.padded[nest.layer.find_dim("M")] = 128;
    EXPECT_TRUE(
        check_legality(nest.layer, sixteen, sixteen.flexibility, Factorization::kPadding, nest.mapping).empty());
    const CostReport padded = nest.priced();
    EXPECT_EQ(ruby.totals.cycles, 8);
    EXPECT_EQ(padded.totals.cycles, 8);
    EXPECT_EQ(ruby.macs, static_cast<double>(size));
    EXPECT_EQ(padded.macs, 128);
    EXPECT_NEAR(1 - ruby.macs / padded.macs, size == 113 ? 0.117 : 0.008, 0.001);
    EXPECT_DOUBLE_EQ(padded.totals.utilization, ruby.totals.utilization);  // useful MACs only
    EXPECT_DOUBLE_EQ(padded.mac_energy_pj / ruby.mac_energy_pj, 128.0 / static_cast<double>(size));
  }
}

TEST(Ruby, TemporalRemaindersTakeTheirOwnTime) {
  // 17 rows in blocks of 4: 4, 4, 4, 4, 1. The nest makes 17 steps, not 20.
  Nested nest(vector_of(17), chain({memory("DRAM"), memory("RF"), mac()}, Conventions::timeloop()));
  nest.temporal("DRAM", "M", 5).temporal("RF", "M", 4);
  EXPECT_EQ(nest.priced().totals.cycles, 17);
}

// ---- QuickFlow: affine extents ----

TEST(Quickflow, AffineExtents) {
  // m(A-1) + n(B-1) - (m-1)(n-1) + 1 once the values interleave, else A*B.
  EXPECT_EQ(distinct_values(1, 56, 1, 3), 58);
  EXPECT_EQ(distinct_values(2, 112, 1, 7), 229);  // stride 2, seven taps
  EXPECT_EQ(distinct_values(3, 224, 4, 3), 3 * 223 + 4 * 2 - 2 * 3 + 1);
  EXPECT_EQ(distinct_values(3, 2, 4, 2), 4);                          // too few steps to interleave
  EXPECT_EQ(distinct_values(4, 5, 6, 4), 2 * 4 + 3 * 3 - 1 * 2 + 1);  // common factor 2 cancels
}

TEST(Quickflow, FootprintsOfStridedTiles) {
  // A 1x1 convolution with stride 2 reads every other input: 4 words, a bounding box of 7.
  for (const bool box : {false, true}) {
    const Accelerator a =
        chain({memory("DRAM"), memory("Buffer"), mac()}, box ? Conventions::timeloop() : Conventions::physical());
    Nested nest(conv_1d(4, 1, 1, 1, 2), a);
    nest.temporal("Buffer", "P", 4);
    EXPECT_EQ(nest.priced().levels[1].tensors[nest.layer.find_tensor("Inputs")].tile_words, box ? 7 : 4);
  }
}

// ---- The worked examples of Timeloop's accounting ----

Accelerator three_levels() {
  return chain({memory("DRAM"), memory("Buffer"), memory("RF"), mac()}, Conventions::timeloop());
}

TEST(TimeloopExamples, H1OutputsMoveBetweenThreeMemories) {
  Nested nest(make_gemm("gemm", {.M = 4, .N = 4, .K = 4}), three_levels());
  nest.temporal("DRAM", "K", 2).temporal("Buffer", "M", 4).temporal("Buffer", "N", 4).temporal("RF", "K", 2);
  const CostReport report = nest.priced();
  EXPECT_EQ(triple(nest, report, "RF", "Inputs"), (Triple{64, 16, 0}));  // stationary in N
  EXPECT_EQ(triple(nest, report, "RF", "Weights"), (Triple{64, 64, 0}));
  EXPECT_EQ(triple(nest, report, "RF", "Outputs"), (Triple{48, 16, 64}));
  EXPECT_EQ(triple(nest, report, "Buffer", "Outputs"), (Triple{16, 0, 32}));
  EXPECT_EQ(triple(nest, report, "DRAM", "Outputs"), (Triple{0, 0, 16}));
}

TEST(TimeloopExamples, H1bReductionInnermostKeepsOutputsInPlace) {
  Nested nest(make_gemm("gemm", {.M = 4, .N = 4, .K = 4}), three_levels());
  nest.temporal("Buffer", "M", 4).temporal("Buffer", "N", 4).temporal("Buffer", "K", 2).temporal("RF", "K", 2);
  const CostReport report = nest.priced();
  EXPECT_EQ(triple(nest, report, "RF", "Outputs"), (Triple{48, 0, 64}));
  EXPECT_EQ(triple(nest, report, "Buffer", "Outputs"), (Triple{0, 0, 16}));
}

TEST(TimeloopExamples, H2SlidingWindows) {
  // Three taps over six positions: 3 + 5 words, also when the window loop is split 3 x 2 or 2 x 3 over two memories.
  for (const Count inner : {Count{6}, Count{2}, Count{3}}) {
    Nested nest(conv_1d(6, 3), three_levels());
    if (inner < 6) nest.temporal("DRAM", "P", 6 / inner);
    nest.temporal("Buffer", "P", inner).temporal("RF", "R", 3);
    EXPECT_EQ(triple(nest, nest.priced(), "RF", "Inputs")[1], 8) << inner;
    // The two-iteration shortcut loses the window at the seam of 2 x 3.
    nest.accelerator.conventions.halo = Conventions::Halo::kTwoIterations;
    EXPECT_EQ(triple(nest, nest.priced(), "RF", "Inputs")[1], inner == 3 ? 10 : 8) << inner;
  }
  // The window starts again for each of two output channels; the Buffer's own tile is loaded once.
  Nested restarts(conv_1d(6, 3, 2), three_levels());
  restarts.temporal("Buffer", "M", 2).temporal("Buffer", "P", 6).temporal("RF", "R", 3);
  EXPECT_EQ(triple(restarts, restarts.priced(), "RF", "Inputs")[1], 16);
  EXPECT_EQ(triple(restarts, restarts.priced(), "Buffer", "Inputs")[1], 8);
}

TEST(TimeloopExamples, H3MulticastAndSpatialReduction) {
  // Six children, 3 output channels x 2 input channels; 10 positions, 2 more rounds of input channels.
  Nested nest(conv_1d(10, 1, 3, 4),
              chain({memory("DRAM"), array("PEs", 1, 6), memory("RF"), mac()}, Conventions::timeloop()));
  nest.temporal("DRAM", "P", 10).temporal("DRAM", "C", 2).spatial("PEs", "M", 3).spatial("PEs", "C", 2);
  const CostReport report = nest.priced();
  EXPECT_EQ(triple(nest, report, "DRAM", "Inputs")[0], 40);  // each word once for three children
  EXPECT_EQ(triple(nest, report, "DRAM", "Outputs"), (Triple{0, 0, 30}));
  EXPECT_EQ(report.levels[2].tensors[nest.layer.find_tensor("Inputs")].fills, 120);
}

TEST(TimeloopExamples, H4BypassAsksTheMemoryOutside) {
  // Weights in every cycle from DRAM when the scratchpad does not keep them.
  Nested nest(conv_1d(40, 1, 3, 8),
              chain({memory("DRAM"), array("PEs", 1, 3), memory("Spad"), mac()}, Conventions::timeloop()));
  nest.temporal("DRAM", "C", 8).spatial("PEs", "M", 3).temporal("Spad", "P", 40);
  EXPECT_EQ(triple(nest, nest.priced(), "DRAM", "Weights")[0], 24);
  nest.bypass("Spad", "Weights");
  EXPECT_EQ(triple(nest, nest.priced(), "DRAM", "Weights")[0], 24 * 40);
}

TEST(TimeloopExamples, H6WindowsOfNeighbours) {
  // p and r both spatial: children with equal p + r share a read, three positions and two taps need four words.
  const Accelerator a = chain({memory("DRAM"), array("PEs", 2, 3), memory("RF"), mac()}, Conventions::timeloop());
  Nested equal(conv_1d(3, 2), a);
  equal.spatial("PEs", "R", 2, Side::kRows).spatial("PEs", "P", 3);
  EXPECT_EQ(triple(equal, equal.priced(), "DRAM", "Inputs")[0], 4);
  // Windows that merely overlap are each read in full: 3 children with 4 words, 8 distinct ones.
  Nested overlap(conv_1d(6, 3), a);
  overlap.spatial("PEs", "P", 3).temporal("RF", "P", 2).temporal("RF", "R", 3);
  EXPECT_EQ(triple(overlap, overlap.priced(), "DRAM", "Inputs")[0], 12);
  overlap.accelerator.levels[1].fanout().partial_multicast = true;
  EXPECT_EQ(triple(overlap, overlap.priced(), "DRAM", "Inputs")[0], 8);
}

TEST(TimeloopExamples, H7SeventeenRowsOverSixUnits) {
  Nested nest(make_gemm("gemm", {.M = 17, .N = 5, .K = 4}),
              chain({memory("DRAM"), array("PEs", 1, 6), memory("Spad"), mac()}, Conventions::timeloop()));
  nest.temporal("DRAM", "M", 3).spatial("PEs", "M", 6).temporal("Spad", "N", 5).temporal("Spad", "K", 4);
  const CostReport report = nest.priced();
  EXPECT_EQ(report.macs, 340);
  EXPECT_EQ(report.totals.cycles, 60);
  EXPECT_DOUBLE_EQ(report.levels[2].instances_average, 17.0 / 3);
  const TensorCost& inputs = report.levels[2].tensors[nest.layer.find_tensor("Inputs")];
  EXPECT_EQ(report.levels[0].tensors[nest.layer.find_tensor("Inputs")].reads, 68);
  EXPECT_EQ(inputs.fills, 68);  // what leaves the parent arrives; the reference counts 11 * 5.667
}

TEST(TimeloopExamples, H8ReadBandwidthStretchesTheRun) {
  // 16 units, 544 words to read in 32 steps: 17 per cycle through a port of 8, so 68 cycles.
  Accelerator a = chain({memory("DRAM"), array("PEs", 1, 16), mac()}, Conventions::timeloop());
  a.levels[0].memory().read_words_per_cycle = 8;
  Nested nest(make_gemm("gemm", {.M = 16, .N = 1, .K = 32}), a);
  nest.temporal("DRAM", "K", 32).spatial("PEs", "M", 16);
  const CostReport report = nest.priced();
  double reads = 0;
  for (const TensorCost& tensor : report.levels[0].tensors) reads += tensor.reads;
  EXPECT_EQ(report.totals.steps, 32);
  EXPECT_EQ(report.totals.cycles, std::ceil(reads / 8));
  EXPECT_EQ(report.bound_by, "DRAM read");
}

// ---- Conventions, one line of the model each ----

TEST(Conventions, DrainingOutputs) {
  Nested nest(make_gemm("gemm", {.M = 4, .N = 4, .K = 4}), three_levels());
  nest.temporal("DRAM", "K", 2).temporal("Buffer", "M", 4).temporal("Buffer", "N", 4).temporal("RF", "K", 2);
  const auto drains = [&](Conventions::Drain drain) {
    nest.accelerator.conventions.drain = drain;
    const CostReport report = nest.priced();
    return report.levels[1].tensors[nest.layer.find_tensor("Outputs")].drains;
  };
  EXPECT_EQ(drains(Conventions::Drain::kFree), 0);
  EXPECT_EQ(drains(Conventions::Drain::kCounted), 16);       // the Buffer's 16 words leave once
  EXPECT_EQ(drains(Conventions::Drain::kParentWrites), 16);  // DRAM is written 16 times and never filled
}

TEST(Conventions, StationarityWithinOneLevelOrAcross) {
  // N loops at DRAM around a Buffer without loops: the RF's input tile is the same for all of them.
  Nested nest(make_gemm("gemm", {.M = 2, .N = 8, .K = 2}), three_levels());
  nest.temporal("DRAM", "N", 8).temporal("RF", "M", 2).temporal("RF", "K", 2);
  nest.accelerator.conventions = Conventions::physical();
  EXPECT_EQ(triple(nest, nest.priced(), "RF", "Inputs")[1], 4);
  nest.accelerator.conventions.stationarity = Conventions::Stationarity::kWithinLevel;
  EXPECT_EQ(triple(nest, nest.priced(), "RF", "Inputs")[1], 4 * 8);
}

TEST(Conventions, NoMulticastAndNoReduction) {
  Accelerator a = chain({memory("DRAM"), array("PEs", 1, 8), memory("RF"), mac()}, Conventions::physical());
  Nested nest(make_gemm("gemm", {.M = 4, .N = 2, .K = 4}), a);
  nest.temporal("DRAM", "K", 1).spatial("PEs", "N", 2).spatial("PEs", "K", 4).temporal("RF", "M", 4);
  EXPECT_EQ(triple(nest, nest.priced(), "DRAM", "Inputs")[0], 16);
  EXPECT_EQ(triple(nest, nest.priced(), "DRAM", "Outputs")[2], 8);
  nest.accelerator.levels[1].fanout().multicast = nest.accelerator.levels[1].fanout().reduction = false;
  EXPECT_EQ(triple(nest, nest.priced(), "DRAM", "Inputs")[0], 32);   // once per copy along N
  EXPECT_EQ(triple(nest, nest.priced(), "DRAM", "Outputs")[2], 32);  // every child's partial sum arrives
}

TEST(Conventions, EqualWindowsSharedOrSeparate) {
  Nested nest(conv_1d(3, 2), chain({memory("DRAM"), array("PEs", 2, 3), memory("RF"), mac()}, Conventions::physical()));
  nest.spatial("PEs", "R", 2, Side::kRows).spatial("PEs", "P", 3);
  EXPECT_EQ(triple(nest, nest.priced(), "DRAM", "Inputs")[0], 4);
  nest.accelerator.conventions.equal_windows = Conventions::EqualWindows::kSeparate;
  EXPECT_EQ(triple(nest, nest.priced(), "DRAM", "Inputs")[0], 6);
}

TEST(Conventions, LeakageAndSlowUnits) {
  Accelerator a = chain({memory("DRAM"), array("PEs", 1, 2), memory("RF"), mac()}, Conventions::physical());
  a.levels[2].memory().leak_pj_per_cycle = 0.5;
  a.levels[3].compute().leak_pj_per_cycle = 0.25;
  a.levels[3].compute().cycles_per_mac = 3;
  Nested nest(vector_of(8), a);
  nest.temporal("DRAM", "M", 4).spatial("PEs", "M", 2);
  const CostReport report = nest.priced();
  EXPECT_EQ(report.totals.cycles, 12);
  EXPECT_EQ(report.totals.utilization, 1);
  EXPECT_EQ(report.levels[2].leakage_pj, 0.5 * 2 * 12);
  EXPECT_EQ(report.compute_leakage_pj, 0.25 * 2 * 12);
  double sum = report.mac_energy_pj + report.compute_leakage_pj;
  for (const LevelCost& level : report.levels) sum += level.energy_pj + level.leakage_pj;
  EXPECT_DOUBLE_EQ(sum, report.totals.energy_pj);
}

TEST(Ports, OnlyInstancesThatWorkHelp) {
  // Three values of M over two fanouts of two: three of the four registers work, each reads its 3 operands and partial
  // sums in 12 cycles through a port of a quarter of a word.
  Accelerator a =
      chain({memory("DRAM"), array("Rows", 1, 2), array("Cols", 1, 2), memory("RF"), mac()}, Conventions::physical());
  a.levels[3].memory().read_words_per_cycle = 0.25;
  Nested nest(vector_of(3), a);
  nest.spatial("Rows", "M", 2).spatial("Cols", "M", 2);
  const CostReport report = nest.priced();
  EXPECT_EQ(report.levels[3].instances_peak, 3);
  EXPECT_EQ(report.levels[3].instances_average, 3);
  EXPECT_EQ(report.levels[3].read_cycles, 12);
  EXPECT_EQ(report.totals.cycles, 12);
}

TEST(Ports, ARunEndsNotBeforeItsPorts) {
  // 12 MACs on 4 units at half a cycle each take 1.5 cycles. 12 words through a port of 8 take one and a half cycles as
  // well, but a port works in whole cycles.
  Accelerator a = chain({memory("DRAM"), array("PEs", 1, 4), mac()}, Conventions::physical());
  a.levels[2].compute().cycles_per_mac = 0.5;
  a.levels[0].memory().write_words_per_cycle = 8;
  for (const auto rounding : {Conventions::StallRounding::kExact, Conventions::StallRounding::kDemandRatio}) {
    a.conventions.stall_rounding = rounding;
    Nested nest(vector_of(12), a);
    nest.temporal("DRAM", "M", 3).spatial("PEs", "M", 4);
    const CostReport report = nest.priced();
    EXPECT_EQ(report.totals.steps, 1.5);
    EXPECT_EQ(report.levels[0].write_cycles, 2);
    EXPECT_EQ(report.totals.cycles, 2);
    EXPECT_EQ(report.bound_by, "DRAM write");
    nest.accelerator.levels[0].memory().write_words_per_cycle = 16;  // 0.75 cycles: within the first
    EXPECT_EQ(nest.priced().totals.cycles, 1.5);
    EXPECT_EQ(nest.priced().bound_by, "compute");
  }
}

TEST(Ports, DrainsPassThePortWhateverTheRounding) {
  // RF is read for two operands and a partial sum per MAC (the first one of each output is not read), and once more for
  // each output that leaves: 2 * 6 + (6 - 3) + 3 words, one per cycle.
  Accelerator a = chain({memory("DRAM"), memory("RF"), mac()}, Conventions::physical());
  a.levels[1].memory().read_words_per_cycle = 1;
  Nested nest(make_gemm("gemm", {.M = 3, .N = 1, .K = 2}), a);
  nest.temporal("DRAM", "M", 3).temporal("RF", "K", 2);
  for (const auto rounding : {Conventions::StallRounding::kExact, Conventions::StallRounding::kDemandRatio}) {
    nest.accelerator.conventions.stall_rounding = rounding;
    nest.accelerator.conventions.drain = Conventions::Drain::kCounted;
    EXPECT_EQ(nest.priced().totals.cycles, 18);
    nest.accelerator.conventions.drain = Conventions::Drain::kFree;
    EXPECT_EQ(nest.priced().totals.cycles, 15);
  }
}

TEST(Ports, ABusCarriesBothDirections) {
  // DRAM: 8 + 16 operands are read, 8 outputs written; RF inside has room for everything.
  Accelerator a = chain({memory("DRAM"), memory("RF"), mac()}, Conventions::physical());
  a.levels[0].memory().bus_words_per_cycle = 1;
  Nested nest(make_gemm("gemm", {.M = 4, .N = 2, .K = 4}), a);
  nest.temporal("RF", "M", 4).temporal("RF", "N", 2).temporal("RF", "K", 4);
  for (const auto rounding : {Conventions::StallRounding::kExact, Conventions::StallRounding::kDemandRatio}) {
    nest.accelerator.conventions.stall_rounding = rounding;
    const CostReport report = nest.priced();
    EXPECT_EQ(report.levels[0].read_cycles, 24);
    EXPECT_EQ(report.levels[0].write_cycles, 8);
    EXPECT_EQ(report.levels[0].bus_cycles, 32);
    EXPECT_EQ(report.totals.steps, 32);
    EXPECT_EQ(report.totals.cycles, 32);
    EXPECT_EQ(report.bound_by, "compute");
  }
  nest.accelerator.levels[0].memory().bus_words_per_cycle = 0.5;
  EXPECT_EQ(nest.priced().totals.cycles, 64);
  EXPECT_EQ(nest.priced().bound_by, "DRAM bus");
}

TEST(Ports, ARoleMayHaveItsOwn) {
  // DRAM: 8 inputs and 8 weights are read, 4 outputs written.
  Accelerator a = chain({memory("DRAM"), memory("RF"), mac()}, Conventions::physical());
  a.levels[0].memory().bandwidth_of[static_cast<std::size_t>(Role::kWeight)].read = 0.125;
  Nested nest(make_gemm("gemm", {.M = 2, .N = 2, .K = 4}), a);
  nest.temporal("RF", "M", 2).temporal("RF", "N", 2).temporal("RF", "K", 4);
  const CostReport weights = nest.priced();
  EXPECT_EQ(weights.totals.steps, 16);
  EXPECT_EQ(weights.totals.cycles, 64);
  EXPECT_EQ(weights.levels[0].read_cycles, 64);
  EXPECT_EQ(weights.levels[0].write_cycles, 0);
  EXPECT_EQ(weights.bound_by, "DRAM weights read");
  nest.accelerator.levels[0].memory().bandwidth_of = {};
  nest.accelerator.levels[0].memory().bandwidth_of[static_cast<std::size_t>(Role::kOutput)].bus = 0.125;
  EXPECT_EQ(nest.priced().totals.cycles, 32);  // 4 outputs, each written once
  EXPECT_EQ(nest.priced().bound_by, "DRAM outputs bus");
}

TEST(PartialMulticast, EqualWindowsAreStillSharedAcrossTheNetwork) {
  // p + r takes four values in six units. Uniting the three windows of the outer fanout alone would need six words.
  Nested nest(conv_1d(3, 2),
              chain({memory("DRAM"), array("A", 1, 3), array("B", 1, 2), mac()}, Conventions::physical()));
  nest.spatial("A", "P", 3).spatial("B", "R", 2);
  EXPECT_EQ(triple(nest, nest.priced(), "DRAM", "Inputs")[0], 4);
  nest.accelerator.levels[1].fanout().partial_multicast = true;
  EXPECT_EQ(triple(nest, nest.priced(), "DRAM", "Inputs")[0], 4);
}

TEST(EqualWindows, AreNotComparedAcrossABypassedMemory) {
  // The same six units; a memory between the fanouts that does not keep the inputs makes two networks of them: each
  // shares what is equal among its own children, which is nothing here.
  Nested nest(conv_1d(3, 2), chain({memory("DRAM"), array("A", 1, 3), memory("Psum"), array("B", 1, 2), mac()},
                                   Conventions::physical()));
  nest.spatial("A", "P", 3).spatial("B", "R", 2).bypass("Psum", "Inputs").bypass("Psum", "Weights");
  EXPECT_EQ(triple(nest, nest.priced(), "DRAM", "Inputs")[0], 6);
}

}  // namespace
}  // namespace pliant
