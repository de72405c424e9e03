// SPDX-License-Identifier: Apache-2.0
// A legal mapping passes; every single corruption of it is refused for the right reason, with the right numbers.
#include "core/legality.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>

namespace pliant {
namespace {

using Rule = Violation::Rule;

struct Case {
  Layer layer = make_conv("conv", {.M = 8, .C = 4, .P = 12, .Q = 10, .R = 3, .S = 3});
  Accelerator accelerator;
  Flexibility flexibility;
  Mapping mapping;
  Factorization rule = Factorization::kPerfect;

  Case() {
    accelerator.levels = {{"DRAM", Memory{}},
                          {"GLB", Memory{.capacity_words = 1100, .may_bypass = {false, true, false}}},
                          {"Array", Fanout{.rows = 3, .cols = 8}},
                          {"RF", Memory{.capacity_words = 20, .may_keep = {true, true, false}}},
                          {"MAC", Compute{}}};
    flexibility.levels.resize(5);
    mapping = empty_mapping(layer, accelerator);
    mapping.levels[0].temporal = {{dim("P"), 3}, {dim("Q"), 5}};
    mapping.levels[1].temporal = {{dim("C"), 4}, {dim("P"), 4}, {dim("Q"), 2}};
    mapping.levels[2].spatial = {{dim("R"), 3, Side::kRows}, {dim("M"), 8, Side::kCols}};
    mapping.levels[3].temporal = {{dim("S"), 3}};
  }
  int dim(const char* name) const { return layer.find_dim(name); }
  Memory& memory(int level) { return accelerator.levels[static_cast<std::size_t>(level)].memory(); }
  Fanout& array() { return accelerator.levels[2].fanout(); }
  LevelFlexibility& rules(int level) { return flexibility.levels[static_cast<std::size_t>(level)]; }
  LevelMapping& at(int level) { return mapping.levels[static_cast<std::size_t>(level)]; }
  std::vector<Violation> check() const { return check_legality(layer, accelerator, flexibility, rule, mapping); }
};

void expect_legal(const Case& c) {
  for (const Violation& v : c.check()) ADD_FAILURE() << to_string(v.rule) << ": " << v.message;
}

/// Exactly one violation, of this rule, at this place.
Violation expect_only(const Case& c, Rule rule, const std::string& level, const std::string& dim = "",
                      const std::string& tensor = "") {
  const std::vector<Violation> found = c.check();
  EXPECT_EQ(found.size(), 1u);
  for (const Violation& v : found) {
    EXPECT_EQ(to_string(v.rule), to_string(rule)) << v.message;
    EXPECT_EQ(v.level, level) << v.message;
    EXPECT_EQ(v.dim, dim) << v.message;
    EXPECT_EQ(v.tensor, tensor) << v.message;
    EXPECT_FALSE(v.message.empty());
  }
  return found.empty() ? Violation{} : found.front();
}

TEST(Legality, TheBaseCaseIsLegalUnderEveryRule) {
  Case c;
  for (const auto rule : {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRubyT, Factorization::kRuby,
                          Factorization::kPadding}) {
    c.rule = rule;
    expect_legal(c);
  }
  c.flexibility.levels.clear();  // no flexibility given: only the hardware's own limits
  expect_legal(c);
}

TEST(Legality, ShapeOfTheMapping) {
  Case levels;
  levels.mapping.levels.pop_back();
  expect_only(levels, Rule::kShape, "");
  Case temporal;
  temporal.at(2).temporal = {{0, 2}};
  expect_only(temporal, Rule::kShape, "Array");
  Case spatial;
  spatial.at(1).spatial = {{0, 2, Side::kRows}};
  expect_only(spatial, Rule::kShape, "GLB");
  Case kept;
  kept.at(2).keeps = 1;
  expect_only(kept, Rule::kShape, "Array");
  Case stranger;
  stranger.at(1).temporal.push_back({77, 2});
  expect_only(stranger, Rule::kShape, "GLB");
  Case negative;
  negative.at(1).temporal.push_back({-1, 2});
  expect_only(negative, Rule::kShape, "GLB");
  Case zero;
  zero.at(1).temporal[0].bound = 0;
  EXPECT_EQ(expect_only(zero, Rule::kShape, "GLB", "C").needed, 0);
  Case twice;
  twice.at(1).temporal.push_back({twice.dim("C"), 1});
  expect_only(twice, Rule::kShape, "GLB", "C");
  Case tensors;
  tensors.at(0).keeps |= 1u << 9;
  expect_only(tensors, Rule::kShape, "DRAM");
  Case padded;
  padded.mapping.padded = {8, 4, 12, 10, 3, 3};
  expect_only(padded, Rule::kShape, "");
}

TEST(Legality, Coverage) {
  Case under;
  under.at(0).temporal = {{under.dim("P"), 3}};
  const Violation v = expect_only(under, Rule::kCoverage, "", "Q");
  EXPECT_EQ(v.needed, 10);
  EXPECT_EQ(v.available, 2);
  Case over;
  over.rule = Factorization::kRuby;
  over.at(0).temporal[1].bound = 6;
  const Violation o = expect_only(over, Rule::kCoverage, "DRAM", "Q");
  EXPECT_EQ(o.needed, 6);
  EXPECT_EQ(o.available, 5);
}

TEST(Legality, Factorization) {
  const auto imperfect_spatial = [](Case& c) {  // M = 8 over 3 columns, 3 times
    c.at(2).spatial[1].bound = 3;
    c.at(1).temporal.push_back({c.dim("M"), 3});
  };
  const auto imperfect_temporal = [](Case& c) {  // Q = 10 as 3 times 4, the last of 2
    c.at(1).temporal[2].bound = 4;
    c.at(0).temporal[1].bound = 3;
  };
  for (const auto rule :
       {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRubyT, Factorization::kRuby}) {
    Case s, t;
    s.memory(1).capacity_words = t.memory(1).capacity_words = std::nullopt;
    imperfect_spatial(s);
    imperfect_temporal(t);
    s.rule = t.rule = rule;
    if (rule == Factorization::kRubyS || rule == Factorization::kRuby) {
      expect_legal(s);
    } else {
      const Violation v = expect_only(s, Rule::kFactorization, "Array", "M");
      EXPECT_EQ(v.needed, 3);
      EXPECT_EQ(v.available, 8);
    }
    if (rule == Factorization::kRubyT || rule == Factorization::kRuby) {
      expect_legal(t);
    } else {
      expect_only(t, Rule::kFactorization, "GLB", "Q");
    }
  }
}

TEST(Legality, Padding) {
  Case c;
  c.rule = Factorization::kPadding;
  c.at(2).spatial[1].bound = 5;  // M = 8 over 5 columns: padded to 10
  c.at(1).temporal.push_back({c.dim("M"), 2});
  c.mapping.padded = {10, 4, 12, 10, 3, 3};
  expect_legal(c);
  c.mapping.padded[0] = 15;
  c.at(1).temporal.back().bound = 3;
  const Violation v = expect_only(c, Rule::kFactorization, "", "M");
  EXPECT_EQ(v.available, 10);
  Case wide;
  wide.rule = Factorization::kPadding;
  wide.at(2).spatial[1] = {wide.dim("C"), 5, Side::kCols};
  wide.at(1).temporal = {{wide.dim("M"), 8}, {wide.dim("P"), 4}, {wide.dim("Q"), 2}};
  wide.mapping.padded = {8, 5, 12, 10, 3, 3};
  wide.memory(1).capacity_words = std::nullopt;
  expect_only(wide, Rule::kCoverage, "", "C");  // the fifth column would never work
}

TEST(Legality, Keep) {
  Case cannot;
  cannot.at(3).keeps |= 4;
  expect_only(cannot, Rule::kKeep, "RF", "", "Outputs");
  Case must;
  must.at(3).keeps &= ~1u;
  expect_only(must, Rule::kKeep, "RF", "", "Inputs");
  Case may;
  may.at(1).keeps &= ~2u;
  expect_legal(may);
  Case home;
  home.memory(0).may_bypass = {true, true, true};
  home.at(0).keeps &= ~1u;
  expect_only(home, Rule::kKeep, "DRAM", "", "Inputs");
  Case nowhere;
  for (const int level : {0, 1, 3}) {
    nowhere.memory(level).may_keep[0] = false;
    nowhere.at(level).keeps &= ~1u;
  }
  expect_only(nowhere, Rule::kKeep, "", "", "Inputs");
}

TEST(Legality, Capacity) {
  // GLB: inputs 4 x 6 x 4 = 96, weights 288, outputs 8 x 4 x 2 = 64.
  Case c;
  c.memory(1).capacity_words = 448;
  expect_legal(c);
  c.memory(1).capacity_words = 447;
  const Violation v = expect_only(c, Rule::kCapacity, "GLB");
  EXPECT_EQ(v.needed, 448);
  EXPECT_EQ(v.available, 447);
  c.at(1).keeps &= ~2u;  // weights bypass
  c.memory(1).capacity_words = 160;
  expect_legal(c);
  c.memory(1).capacity_words = 2 * 160;
  c.memory(1).buffers = 2;
  expect_legal(c);
  c.memory(1).capacity_words = 2 * 160 - 1;
  EXPECT_EQ(expect_only(c, Rule::kCapacity, "GLB").available, 159);
}

TEST(Legality, FootprintFollowsTheConvention) {
  Case c;
  c.layer = make_conv("pointwise", {.M = 8, .C = 4, .P = 12, .Q = 10, .stride_p = 2, .stride_q = 2});
  c.at(2).spatial = {{c.dim("M"), 8, Side::kCols}};
  c.at(3).temporal.clear();
  // Inputs at GLB: 4 channels of 4 x 2 points, spread over 7 x 3.
  c.memory(1).capacity_words = 4 * 8 + 32 + 64;
  expect_legal(c);
  c.accelerator.conventions = Conventions::timeloop();
  EXPECT_EQ(expect_only(c, Rule::kCapacity, "GLB").needed, 4 * 21 + 32 + 64);
}

TEST(Legality, HardPartition) {
  Case c;
  c.memory(1).capacity_words = 900;
  c.rules(1).tile.partition = {1, 1, 1};
  expect_legal(c);
  c.memory(1).capacity_words = 3 * 287;
  const Violation v = expect_only(c, Rule::kTile, "GLB", "", "Weights");
  EXPECT_EQ(v.needed, 288);
  EXPECT_NEAR(v.available, 287, 1e-9);
  c.rules(1).tile.partition = {0.2, 0.5, 0.3};
  expect_legal(c);
}

TEST(Legality, FixedTile) {
  Case c;
  c.rules(1).tile.fixed = {{"P", 4}, {"Z", 3}};  // the layer has no Z
  expect_legal(c);
  c.rules(1).tile.fixed = {{"P", 5}};  // 4 is the largest divisor of 12 within 5
  expect_legal(c);
  c.rule = Factorization::kRuby;
  const Violation v = expect_only(c, Rule::kTile, "GLB", "P");
  EXPECT_EQ(v.needed, 4);
  EXPECT_EQ(v.available, 5);
  c.rules(1).tile.fixed = {{"M", 64}};  // clipped to the layer
  expect_legal(c);
  c.rules(1).tile.fixed = {{"P", 12}};
  expect_only(c, Rule::kTile, "GLB", "P");
}

TEST(Legality, FixedTilesAreClippedToDivisors) {
  // One dim, one inner memory: the legal inner tile is the largest divisor within the fixed size.
  Accelerator accelerator;
  accelerator.levels = {{"DRAM", Memory{}}, {"GLB", Memory{}}, {"MAC", Compute{}}};
  Flexibility flexibility;
  flexibility.levels.resize(3);
  for (Count size = 1; size <= 120; ++size) {
    const Layer layer = make_gemm("g", {.M = size});
    for (Count fixed = 1; fixed <= 130; fixed += 3) {
      flexibility.levels[1].tile.fixed = {{"M", fixed}};
      Count expected = 1;
      for (Count d = 1; d <= std::min(size, fixed); ++d)
        if (size % d == 0) expected = d;
      Mapping mapping = empty_mapping(layer, accelerator);
      mapping.levels[0].temporal = {{0, size / expected}};
      mapping.levels[1].temporal = {{0, expected}};
      ASSERT_TRUE(check_legality(layer, accelerator, flexibility, Factorization::kPerfect, mapping).empty())
          << size << " " << fixed;
    }
  }
}

TEST(Legality, Loops) {
  Case c;
  c.rules(1).loops.dims = {"C", "P", "Q"};
  expect_legal(c);
  c.rules(1).loops.dims = {"C", "P"};
  expect_only(c, Rule::kLoops, "GLB", "Q");
}

TEST(Legality, Order) {
  Case c;  // GLB: C, P, Q
  c.rules(1).order.allowed = {{{"C", "P", "Q"}, {}}};
  expect_legal(c);
  c.rules(1).order.allowed = {{{"M", "C", "R", "Q", "Z"}, {}}};  // P may stand anywhere
  expect_legal(c);
  c.rules(1).order.allowed = {{{"Q", "C"}, {}}};
  expect_only(c, Rule::kOrder, "GLB");
  c.rules(1).order.allowed.push_back({{"P", "Q"}, {}});  // any of the list is enough
  expect_legal(c);
  c.rules(1).order.allowed = {{{}, Role::kWeight}};  // C outside, P and Q inside: weights stay
  expect_legal(c);
  c.rules(1).order.allowed = {{{}, Role::kOutput}};
  expect_only(c, Rule::kOrder, "GLB");
  c.at(1).temporal = {{c.dim("P"), 4}, {c.dim("Q"), 2}, {c.dim("C"), 4}};
  expect_legal(c);
  c.rules(1).order.allowed = {{{"C", "P", "Q"}, {}}};
  c.at(1).temporal = {{c.dim("M"), 1}, {c.dim("C"), 4}, {c.dim("R"), 1}, {c.dim("P"), 4}, {c.dim("Q"), 2}};
  expect_legal(c);  // loops that run once have no place in the order
}

TEST(Legality, FanoutOfFixedShape) {
  Case rows;
  rows.array().rows = 2;
  Violation v = expect_only(rows, Rule::kFanout, "Array");
  EXPECT_EQ(v.needed, 3);
  EXPECT_EQ(v.available, 2);
  Case cols;
  cols.array().cols = 7;
  v = expect_only(cols, Rule::kFanout, "Array");
  EXPECT_EQ(v.needed, 8);
  EXPECT_EQ(v.available, 7);
}

TEST(Legality, FreeShape) {
  Case c;
  c.rules(2).shape.kind = ShapeRule::Kind::kFree;
  c.array() = {.rows = 2, .cols = 12};
  expect_legal(c);
  c.array() = {.rows = 23, .cols = 1};
  const Violation v = expect_only(c, Rule::kFanout, "Array");
  EXPECT_EQ(v.needed, 24);
  EXPECT_EQ(v.available, 23);
}

TEST(Legality, ShapeOfBlocks) {
  Case c;  // needs 3 x 8
  c.rules(2).shape = {ShapeRule::Kind::kBlocks, 4, 4};
  c.array() = {.rows = 4, .cols = 8};  // 2 blocks: 4 x 8 or 8 x 4
  expect_legal(c);
  c.array() = {.rows = 4, .cols = 7};  // 1 block of 28 units: 4 x 7
  Violation v = expect_only(c, Rule::kArrayShape, "Array");
  EXPECT_EQ(v.needed, 8);
  EXPECT_EQ(v.available, 7);
  c.rules(2).shape = {ShapeRule::Kind::kBlocks, 1, 16};
  c.array() = {.rows = 2, .cols = 16};  // 2 blocks: at most 2 rows
  v = expect_only(c, Rule::kArrayShape, "Array");
  EXPECT_EQ(v.needed, 3);
  EXPECT_EQ(v.available, 2);
}

TEST(Legality, Parallel) {
  Case c;
  c.rules(2).parallel.assignments = {{{"R"}, {"M"}}};
  expect_legal(c);
  c.rules(2).parallel.assignments = {{{"R"}, {"C"}}, {{"S"}, {"M"}}};  // no single one explains both loops
  expect_only(c, Rule::kParallel, "Array", "M");
  c.rules(2).parallel.assignments.push_back({{"S", "R"}, {"Q", "M"}});
  expect_legal(c);
  Case crowded;
  crowded.rules(2).parallel.max_dims_per_side = 1;
  expect_legal(crowded);
  crowded.at(2).spatial = {
      {crowded.dim("R"), 3, Side::kRows}, {crowded.dim("M"), 4, Side::kCols}, {crowded.dim("Q"), 2, Side::kCols}};
  crowded.at(1).temporal = {{crowded.dim("C"), 4}, {crowded.dim("P"), 4}, {crowded.dim("M"), 2}};
  const Violation v = expect_only(crowded, Rule::kParallel, "Array");
  EXPECT_EQ(v.needed, 2);
  EXPECT_EQ(v.available, 1);
}

TEST(Legality, EveryViolationIsNamed) {
  Case c;
  c.memory(1).capacity_words = 10;
  c.array().rows = 1;
  c.rules(1).loops.dims = {"C"};
  c.at(3).keeps |= 4;
  std::vector<Rule> rules;
  for (const Violation& v : c.check()) rules.push_back(v.rule);
  EXPECT_EQ(rules, (std::vector<Rule>{Rule::kKeep, Rule::kFanout, Rule::kCapacity, Rule::kLoops, Rule::kLoops}));
}

TEST(Legality, HugeNumbersDoNotWrap) {
  const Count huge = std::numeric_limits<Count>::max();
  Case c;
  for (LevelMapping& level : c.mapping.levels) {
    for (Loop& loop : level.temporal) loop.bound = huge;
    for (SpatialLoop& loop : level.spatial) loop.bound = huge;
  }
  c.at(2).spatial.push_back({c.dim("C"), huge, Side::kCols});
  bool fanout = false;
  for (const Violation& v : c.check()) {
    EXPECT_GE(v.needed, 0) << v.message;
    fanout |= v.rule == Rule::kFanout && v.needed > 1e20;
  }
  EXPECT_TRUE(fanout);
  Case wide;
  wide.layer = make_gemm("g", {.M = Count{1} << 40, .N = 1, .K = 1});
  wide.mapping = empty_mapping(wide.layer, wide.accelerator);
  wide.at(1).temporal = {{0, Count{1} << 40}};
  EXPECT_EQ(expect_only(wide, Rule::kCapacity, "GLB").needed, 2.0 * (Count{1} << 40) + 1);
}

TEST(Legality, MessagesAreSentencesWithNumbers) {
  Case c;
  c.memory(1).capacity_words = 447;
  EXPECT_EQ(c.check().at(0).message, "tiles at GLB need 448 words (Inputs 96, Weights 288, Outputs 64); it holds 447");
}

}  // namespace
}  // namespace pliant
