// SPDX-License-Identifier: Apache-2.0
// Map-space sizes: closed forms and the walk over tiles against plain enumeration judged by the legality checker.
#include "flex/mapspace/count.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "core/legality.h"
#include "flex/mapspace/enumerate.h"
#include "flex/mapspace/legal_count.h"

namespace pliant {
namespace {

TEST(QuickFlowFormula, SixDimsOfFivePrimes) {
  Layer layer = make_conv("c", {.M = 32, .C = 32, .P = 32, .Q = 32, .R = 32, .S = 32});
  const BigCount size = quickflow_map_space_size(layer, 5, 4);
  BigCount expected = 1;
  for (int m = 0; m < 4; ++m) expected *= 720;
  for (int d = 0; d < 6; ++d) expected *= 126;  // binomial(9, 4)
  EXPECT_EQ(size, expected);
  EXPECT_NEAR(size.convert_to<double>(), 1.08e24, 0.005e24);
}

TEST(QuickFlowFormula, CountsSidesOfFanoutsAsLevels) {
  Accelerator accelerator;
  accelerator.levels = {{"DRAM", Memory{}},
                        {"GLB", Memory{}},
                        {"Columns", Fanout{.rows = 1, .cols = 14}},
                        {"Rows", Fanout{.rows = 12, .cols = 1}},
                        {"RF", Memory{}},
                        {"MAC", Compute{}}};
  const Layer gemm = make_gemm("g", {.M = 16, .N = 9, .K = 1});
  EXPECT_EQ(quickflow_map_space_size(gemm, accelerator), 6 * 6 * 6 * 70 * 15);
  accelerator.levels.erase(accelerator.levels.begin() + 2);
  accelerator.levels[2].fanout() = {.rows = 12, .cols = 14};
  EXPECT_EQ(quickflow_map_space_size(gemm, accelerator), 6 * 6 * 6 * 70 * 15);
}

TEST(MapSpaceSize, IsChainsTimesOrdersTimesBypasses) {
  Accelerator accelerator;
  accelerator.levels = {{"DRAM", Memory{}},
                        {"GLB", Memory{.may_bypass = {true, true, false}}},
                        {"Array", Fanout{.rows = 1, .cols = 9}},
                        {"RF", Memory{}},
                        {"MAC", Compute{}}};
  Flexibility flexibility;
  flexibility.levels.resize(5);
  flexibility.levels[1].loops.dims.emplace();  // nothing loops at GLB
  flexibility.levels[3].order.allowed = {{{"M", "N", "K"}, {}}};
  const Layer gemm = make_gemm("g", {.M = 100, .N = 64, .K = 1});
  const MapSpaceSize size = map_space_size(gemm, accelerator, flexibility, Factorization::kRubyS);
  EXPECT_EQ(size.chains, (std::vector<BigCount>{57, 42, 1}));
  EXPECT_EQ(size.orders, (std::vector<BigCount>{2, 1, 1, 1, 1}));
  EXPECT_EQ(size.bypasses, (std::vector<BigCount>{1, 4, 1, 1, 1}));
  EXPECT_EQ(size.total(), 57 * 42 * 2 * 4);
}

struct Space {
  Layer layer;
  Accelerator accelerator;
  Flexibility flexibility;
};

/// Small enough to enumerate, with every kind of limit now and then.
Space random_space(std::mt19937& random) {
  const auto draw = [&random](int low, int high) {
    return static_cast<Count>(std::uniform_int_distribution<int>(low, high)(random));
  };
  const auto chance = [&](int percent) { return draw(1, 100) <= percent; };
  Space space;
  if (chance(50)) {
    space.layer = make_gemm("gemm", {.M = draw(1, 6), .N = draw(1, 6), .K = draw(1, 4)});
  } else {
    space.layer = make_conv("conv", {.M = draw(1, 4), .P = draw(1, 6), .R = draw(1, 3), .stride_p = draw(1, 2)});
  }
  std::vector<std::string> names;
  for (const Dim& dim : space.layer.dims) names.push_back(dim.name);
  const auto some = [&](int percent) {
    std::vector<std::string> chosen;
    for (const std::string& name : names)
      if (chance(percent)) chosen.push_back(name);
    std::shuffle(chosen.begin(), chosen.end(), random);
    return chosen;
  };

  Memory inner{.capacity_words = draw(3, 40)};
  for (std::size_t role = 0; role < kRoles; ++role) {
    inner.may_keep[role] = chance(80);
    inner.may_bypass[role] = chance(40);
  }
  if (chance(20)) inner.buffers = 2;
  space.accelerator.levels = {
      {"DRAM", Memory{}}, {"Array", Fanout{.rows = draw(1, 3), .cols = draw(1, 4)}}, {"RF", inner}, {"MAC", Compute{}}};
  if (chance(30)) space.accelerator.conventions = Conventions::timeloop();

  space.flexibility.levels.resize(4);
  LevelFlexibility& array = space.flexibility.levels[1];
  array.shape.kind = static_cast<ShapeRule::Kind>(draw(0, 2));
  array.shape.block_rows = draw(1, 2);
  array.shape.block_cols = draw(1, 2);
  if (chance(20)) array.parallel.max_dims_per_side = 1;
  if (chance(40))
    for (Count n = draw(1, 2); n > 0; --n) array.parallel.assignments.push_back({some(50), some(50)});
  LevelFlexibility& rf = space.flexibility.levels[2];
  if (chance(30)) rf.loops.dims = some(60);
  if (chance(40)) rf.order.allowed.push_back({some(70), {}});
  if (chance(30)) rf.order.allowed.push_back({{}, static_cast<Role>(draw(0, 2))});
  if (chance(25)) rf.tile.partition = {static_cast<double>(draw(1, 3)), static_cast<double>(draw(1, 3)), 1.0};
  if (chance(25)) rf.tile.fixed = {{names[static_cast<std::size_t>(draw(0, 2))], draw(1, 4)}};
  return space;
}

TEST(LegalCount, EqualsEnumerationJudgedByTheChecker) {
  std::mt19937 random(2024);
  int spaces = 0, empty = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const Space space = random_space(random);
    for (const auto rule :
         {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRubyT, Factorization::kRuby}) {
      if (map_space_size(space.layer, space.accelerator, space.flexibility, rule).total() > 60'000) continue;
      BigCount legal = 0;
      for_each_mapping(space.layer, space.accelerator, space.flexibility, rule, [&](const Mapping& mapping) {
        legal += check_legality(space.layer, space.accelerator, space.flexibility, rule, mapping).empty();
        return true;
      });
      const auto counted = count_legal_mappings(space.layer, space.accelerator, space.flexibility, rule);
      ASSERT_TRUE(counted.has_value());
      ASSERT_EQ(*counted, legal) << "trial " << trial << " " << to_string(rule) << " " << space.layer.written_as;
      ++spaces;
      empty += legal == 0;
    }
  }
  EXPECT_GT(spaces, 500);
  EXPECT_LT(empty, spaces / 2);
}

TEST(LegalCount, EnumerationVisitsEveryMappingOnce) {
  std::mt19937 random(99);
  for (int trial = 0; trial < 40; ++trial) {
    const Space space = random_space(random);
    if (map_space_size(space.layer, space.accelerator, space.flexibility, Factorization::kRuby).total() > 20'000)
      continue;
    std::set<std::string> seen;
    std::size_t visited = 0;
    for_each_mapping(space.layer, space.accelerator, space.flexibility, Factorization::kRuby,
                     [&](const Mapping& mapping) {
                       ++visited;
                       seen.insert(to_loop_nest(space.layer, space.accelerator, mapping));
                       return true;
                     });
    EXPECT_EQ(seen.size(), visited);
  }
}

TEST(LegalCount, PaddedMappingsOfTheEnumerationAreLegal) {
  Accelerator accelerator;
  accelerator.levels = {
      {"DRAM", Memory{}}, {"Array", Fanout{.rows = 1, .cols = 4}}, {"RF", Memory{}}, {"MAC", Compute{}}};
  const Layer layer = make_gemm("g", {.M = 7, .N = 1, .K = 3});
  int visited = 0;
  for_each_mapping(layer, accelerator, {}, Factorization::kPadding, [&](const Mapping& mapping) {
    Count columns = 1;
    for (const SpatialLoop& loop : mapping.levels[1].spatial) columns *= loop.bound;
    const auto found = check_legality(layer, accelerator, {}, Factorization::kPadding, mapping);
    EXPECT_EQ(found.empty(), columns <= 4);
    ++visited;
    return true;
  });
  EXPECT_GT(visited, 20);
}

TEST(LegalCount, RealLayersAreCounted) {
  // Without limits the walk must agree with the closed form once unit loops are given their places: one memory order.
  Accelerator accelerator;
  accelerator.levels = {{"DRAM", Memory{}}, {"GLB", Memory{}}, {"RF", Memory{}}, {"MAC", Compute{}}};
  Flexibility flexibility;
  flexibility.levels.resize(4);
  for (const std::size_t k : {0, 1, 2}) flexibility.levels[k].order.allowed = {{{"M", "C", "P", "Q", "R", "S"}, {}}};
  const Layer layer = make_conv("conv", {.M = 64, .C = 64, .P = 56, .Q = 56, .R = 3, .S = 3});
  EXPECT_EQ(count_legal_mappings(layer, accelerator, flexibility, Factorization::kPerfect),
            map_space_size(layer, accelerator, flexibility, Factorization::kPerfect).total());
}

TEST(LegalCount, SaysWhenItCannot) {
  Accelerator accelerator;
  accelerator.levels = {{"DRAM", Memory{}}, {"GLB", Memory{}}, {"MAC", Compute{}}};
  const Layer layer = make_conv("conv", {.M = 512, .C = 512, .P = 56, .Q = 56, .R = 3, .S = 3});
  EXPECT_FALSE(count_legal_mappings(layer, accelerator, {}, Factorization::kRuby).has_value());
  EXPECT_FALSE(count_legal_mappings(layer, accelerator, {}, Factorization::kPadding).has_value());
}

}  // namespace
}  // namespace pliant
