// SPDX-License-Identifier: Apache-2.0
// The burst rule: the tile of every tensor that a memory holds is a whole number of bursts. The generators, the count
// and the independent checker mean the same by it.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/input/load.h"
#include "flex/flexion/tile_space.h"
#include "flex/mapspace/enumerate.h"
#include "support/checked_space.h"
#include "support/random_space.h"

namespace pliant {
namespace {

using testing::CheckedSpace;
using testing::key;
using testing::RandomSpaces;

/// Words that the memory holds of each tensor of a GEMM.
std::array<Count, 3> gemm_words(const Mapping& mapping, std::size_t level) {
  std::array<Count, 3> tile{1, 1, 1};  // M, N, K
  for (std::size_t k = level; k < mapping.levels.size(); ++k) {
    for (const Loop& loop : mapping.levels[k].temporal) tile[static_cast<std::size_t>(loop.dim)] *= loop.bound;
    for (const SpatialLoop& loop : mapping.levels[k].spatial) tile[static_cast<std::size_t>(loop.dim)] *= loop.bound;
  }
  return {tile[0] * tile[2], tile[2] * tile[1], tile[0] * tile[1]};
}

TEST(BurstRule, HoldsTilesOfWholeBurstsOnly) {
  Accelerator accelerator;
  accelerator.levels = {{"DRAM", Memory{}}, {"Buffer", Memory{.capacity_words = 64}}, {"MAC", Compute{}}};
  Flexibility flexibility;
  flexibility.levels.resize(3);
  flexibility.levels[1].tile.burst = 4;
  const CheckedSpace space{make_gemm("gemm", {.M = 4, .N = 4, .K = 4}), accelerator, flexibility};
  CheckedSpace free = space;
  free.flexibility = {};
  std::set<std::string> expected, listed;
  ASSERT_TRUE(free.enumerate([&](const Mapping& mapping) {
    const auto words = gemm_words(mapping, 1);
    const bool whole = std::ranges::all_of(words, [](Count n) { return n % 4 == 0; });
    if (whole) expected.insert(key(mapping));
    EXPECT_EQ(space.contains(mapping), whole);
    return true;
  }));
  ASSERT_TRUE(space.enumerate([&](const Mapping& mapping) { return listed.insert(key(mapping)).second; }));
  EXPECT_EQ(listed, expected);
  EXPECT_EQ(*space.count(), expected.size());
  EXPECT_GT(expected.size(), 0u);
  EXPECT_LT(BigCount(expected.size()), *free.count());
}

TEST(BurstRule, ViolationsNameTheTensorAndItsWords) {
  Accelerator accelerator;
  accelerator.levels = {{"DRAM", Memory{}}, {"Buffer", Memory{}}, {"MAC", Compute{}}};
  Flexibility flexibility;
  flexibility.levels.resize(3);
  flexibility.levels[1].tile.burst = 8;
  const Layer layer = make_gemm("gemm", {.M = 3, .N = 8, .K = 2});
  Mapping mapping = empty_mapping(layer, accelerator);
  mapping.levels[1].temporal = {{0, 3}, {1, 8}, {2, 2}};
  const auto found = check_legality(layer, accelerator, flexibility, Factorization::kPerfect, mapping);
  ASSERT_EQ(found.size(), 1u);  // inputs 3 x 2; weights 2 x 8 and outputs 3 x 8 are whole bursts
  EXPECT_EQ(found[0].rule, Violation::Rule::kTile);
  EXPECT_EQ(found[0].message, "the tile of Inputs at Buffer has 6 words; it must be a multiple of the burst of 8");
}

TEST(BurstRule, EnumerationCountSamplesAndCheckerAgreeOnRandomSpaces) {
  RandomSpaces random(404);
  int compared = 0, not_empty = 0, refused = 0;
  while (not_empty < 50) {
    CheckedSpace space{random.layer(6), random.accelerator(), {}, random.factorization()};
    space.flexibility = random.flexibility(space.layer, space.accelerator);
    bool any = false;
    for (std::size_t k = 0; k < space.accelerator.levels.size(); ++k) {
      if (!space.accelerator.levels[k].is_memory() || !random.chance(60)) continue;
      space.flexibility.levels[k].tile.burst = 2 + random.below(3);
      any = true;
    }
    if (!any) continue;
    std::set<std::string> truth, listed;
    std::uint64_t seen = 0;
    const bool complete = for_each_mapping(space.layer, space.accelerator, space.flexibility, space.factorization,
                                           [&](const Mapping& mapping) {
                                             const auto violations = space.violations(mapping);
                                             if (violations.empty()) truth.insert(key(mapping));
                                             for (const Violation& violation : violations)
                                               refused += violation.message.find("burst") != std::string::npos ? 1 : 0;
                                             return ++seen < 200'000;
                                           });
    if (!complete) continue;
    ASSERT_TRUE(space.enumerate([&](const Mapping& mapping) { return listed.insert(key(mapping)).second; }));
    ASSERT_EQ(listed, truth) << "space " << compared << ", " << to_string(space.factorization);
    ASSERT_EQ(space.count(), BigCount(truth.size())) << "space " << compared;
    const MapSpace drawn = space.space();
    Sampler sampler(drawn);
    for (int i = 0; i < 200 && !sampler.empty(); ++i)
      if (sampler.draw(random.engine())) {
        ASSERT_TRUE(truth.contains(key(drawn.mapping(sampler.candidate()))));
      }
    not_empty += truth.empty() ? 0 : 1;
    ++compared;
  }
  EXPECT_LT(compared, 1000);
  EXPECT_GT(refused, 10'000);
}

TEST(BurstRule, TileTuplesAreCountedOneByOne) {
  Accelerator accelerator;
  accelerator.levels = {{"DRAM", Memory{}}, {"Buffer", Memory{.capacity_words = 40}}, {"MAC", Compute{}}};
  TileRule rule;
  rule.burst = 3;
  const TileSpace space(make_gemm("gemm", {.M = 6, .N = 6, .K = 6}), accelerator, 1, rule);
  Count expected = 0;
  for (Count m = 1; m <= 6; ++m)
    for (Count n = 1; n <= 6; ++n)
      for (Count k = 1; k <= 6; ++k)
        expected += m * k % 3 == 0 && k * n % 3 == 0 && m * n % 3 == 0 && m * k + k * n + m * n <= 40 ? 1 : 0;
  EXPECT_EQ(*space.count(), expected);
  const auto estimate = TileSpace::estimate(space, space, 200'000, 7).whole;
  EXPECT_LE(estimate.low, static_cast<double>(expected) * 1.02);
  EXPECT_GE(estimate.high, static_cast<double>(expected) * 0.98);
}

TEST(BurstRule, IsReadAndWritten) {
  const std::string text =
      "pliant: accelerator\nname: bursts\nlevels:\n  - {memory: DRAM, capacity: unbounded, read_pj: 1}\n"
      "  - {memory: Buffer, capacity: 64, read_pj: 1}\n  - {compute: MAC, mac_pj: 1}\n"
      "flexibility:\n  tiles: {Buffer: {partition: 1:1:2, burst: 8}}\n";
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const Accelerator read = parse_accelerator_text(library, text, "bursts.yaml");
  EXPECT_EQ(read.flexibility.levels[1].tile.burst, 8);
  EXPECT_TRUE(read.flexibility.levels[1].tile.partition.has_value());
  EXPECT_EQ(parse_accelerator_text(library, write_accelerator(read), "again.yaml"), read);
}

}  // namespace
}  // namespace pliant
