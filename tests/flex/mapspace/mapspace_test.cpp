// SPDX-License-Identifier: Apache-2.0
// Membership, enumeration, counting and sampling speak about the same set of mappings.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "flex/mapspace/enumerate.h"
#include "flex/mapspace/mapspace.h"
#include "support/checked_space.h"
#include "support/random_space.h"

namespace pliant {
namespace {

using testing::CheckedSpace;
using testing::draw_mapping;
using testing::key;
using testing::RandomSpaces;

constexpr std::uint64_t kMostMappings = 60'000;

struct Listed {
  std::set<std::string> keys;
  bool complete = false;
};

/// Through the plain generator and the checker: every rule that ties dims together is the checker's.
Listed ground_truth(const CheckedSpace& space, std::map<Violation::Rule, int>* refused = nullptr) {
  Listed result;
  std::uint64_t seen = 0;
  result.complete = for_each_mapping(space.layer, space.accelerator, space.flexibility, space.factorization,
                                     [&](const Mapping& mapping) {
                                       const auto violations = space.violations(mapping);
                                       if (violations.empty()) result.keys.insert(key(mapping));
                                       if (refused && !violations.empty()) ++(*refused)[violations[0].rule];
                                       return ++seen < 4 * kMostMappings;
                                     });
  return result;
}

TEST(MapSpace, EnumerationCountAndGroundTruthAgreeOnRandomSpaces) {
  RandomSpaces random(20240501);
  int compared = 0, not_empty = 0;
  std::map<Violation::Rule, int> refused;
  while (compared < 250) {
    const Layer layer = random.layer(6);
    const Accelerator accelerator = random.accelerator();
    const CheckedSpace space{layer, accelerator, random.flexibility(layer, accelerator), random.factorization()};
    const Listed truth = ground_truth(space, &refused);
    if (!truth.complete) continue;
    std::set<std::string> keys;
    std::uint64_t visited = 0;
    space.enumerate([&](const Mapping& mapping) {
      ++visited;
      keys.insert(key(mapping));
      return true;
    });
    ASSERT_EQ(visited, keys.size()) << "a mapping came twice; space " << compared;
    ASSERT_EQ(keys, truth.keys) << "space " << compared << ", rule " << to_string(space.factorization);
    const auto count = space.count();
    ASSERT_TRUE(count.has_value());
    ASSERT_EQ(*count, keys.size()) << "space " << compared << ", rule " << to_string(space.factorization);
    not_empty += keys.empty() ? 0 : 1;
    ++compared;
  }
  EXPECT_GT(not_empty, 100);
  // Every rule that a generator does not apply by itself has refused something.
  for (const auto rule : {Violation::Rule::kCapacity, Violation::Rule::kTile, Violation::Rule::kOrder,
                          Violation::Rule::kFanout, Violation::Rule::kParallel, Violation::Rule::kArrayShape})
    EXPECT_GT(refused[rule], 0) << to_string(rule);
}

TEST(MapSpace, SamplesHaveTheSpaceAsTheirSupport) {
  RandomSpaces random(7);
  int compared = 0, too_rare = 0;
  while (compared < 120) {
    const Layer layer = random.layer(5);
    const Accelerator accelerator = random.accelerator();
    const CheckedSpace space{layer, accelerator, random.flexibility(layer, accelerator), random.factorization()};
    std::set<std::string> keys;
    const bool small = space.enumerate([&](const Mapping& mapping) {
      keys.insert(key(mapping));
      return keys.size() <= 150;
    });
    if (!small) continue;
    ++compared;
    const MapSpace drawn = space.space();
    Sampler sampler(drawn);
    if (keys.empty()) {
      EXPECT_FALSE(draw_mapping(drawn, sampler, random.engine(), 2000).has_value());
      continue;
    }
    std::set<std::string> met;
    int draws = 0;
    for (; draws < 400'000 && met.size() < keys.size(); ++draws) {
      if (!sampler.draw(random.engine())) continue;
      const Mapping mapping = drawn.mapping(sampler.candidate());
      ASSERT_TRUE(space.contains(mapping));
      met.insert(key(mapping));
    }
    for (const std::string& one : met) EXPECT_TRUE(keys.contains(one));
    if (draws == 400'000) {
      ++too_rare;  // a limit refuses nearly all draws
    } else {
      EXPECT_EQ(met, keys) << "space " << compared;
    }
  }
  EXPECT_LT(too_rare, 12);
}

// Every chain is equally likely, so is every set of kept tensors and every order of the loops there are: a mapping is
// drawn in proportion to one over the orders that its loops have. Chi-square with n - 1 degrees of freedom: mean n - 1,
// variance about 2 (n - 1); five standard deviations.
void expect_even(const CheckedSpace& checked, std::uint64_t seed) {
  const MapSpace space = checked.space();
  std::map<std::string, double> weight;
  double total = 0;
  checked.enumerate([&](const Mapping& mapping) {
    double orders = 1;
    for (const MemoryRules& memory : space.rules.memories) {
      DimSet loops = 0;
      for (const Loop& loop : mapping.levels[static_cast<std::size_t>(memory.level)].temporal)
        loops |= DimSet{1} << loop.dim;
      orders *= static_cast<double>(memory.orders.list(loops).size());
    }
    total += weight[key(mapping)] = 1 / orders;
    return true;
  });
  Sampler sampler(space);
  std::mt19937_64 random(seed);
  std::map<std::string, int> met;
  const int samples = static_cast<int>(weight.size()) * 100;
  for (int i = 0; i < samples; ++i) ++met[key(draw_mapping(space, sampler, random).value())];
  double chi = 0;
  for (const auto& [name, share] : weight) {
    const double expected = samples * share / total;
    chi += (met[name] - expected) * (met[name] - expected) / expected;
  }
  ASSERT_EQ(met.size(), weight.size());
  const auto degrees = static_cast<double>(weight.size() - 1);
  EXPECT_LT(chi, degrees + 5 * std::sqrt(2 * degrees)) << weight.size() << " mappings";
  EXPECT_GT(chi, degrees - 5 * std::sqrt(2 * degrees)) << weight.size() << " mappings";
}

TEST(MapSpace, DrawsAreEvenOverChainsKeptTensorsAndOrders) {
  RandomSpaces random(99);
  int tested = 0;
  while (tested < 25) {
    const Layer layer = random.layer(5);
    const Accelerator accelerator = random.accelerator();
    const CheckedSpace space{layer, accelerator, random.flexibility(layer, accelerator), random.factorization()};
    std::uint64_t size = 0;
    const bool all = space.enumerate([&](const Mapping&) { return ++size < 1000; });
    if (!all || size < 20) continue;
    const MapSpace drawn = space.space();
    Sampler sampler(drawn);
    int legal = 0;
    for (int i = 0; i < 2000; ++i) legal += sampler.draw(random.engine()) ? 1 : 0;
    if (legal < 20) continue;  // too slow to draw
    expect_even(space, static_cast<std::uint64_t>(tested));
    ++tested;
  }
}

// What one kind of rule forbids, and nothing else does, is refused with the name of that rule.
TEST(MapSpace, MoreFlexibilityIsASupersetAndTheRestIsRefusedByTheRule) {
  using Loosen = RandomSpaces::Loosen;
  using Rule = Violation::Rule;
  const std::map<Loosen, std::set<Rule>> blamed{{Loosen::kTiles, {Rule::kTile}},
                                                {Loosen::kOrders, {Rule::kOrder}},
                                                {Loosen::kLoops, {Rule::kLoops}},
                                                {Loosen::kParallel, {Rule::kParallel}},
                                                {Loosen::kShape, {Rule::kFanout, Rule::kArrayShape}}};
  RandomSpaces random(11);
  std::map<Loosen, int> refused;
  int compared = 0;
  while (compared < 200) {
    const Layer layer = random.layer(5);
    const Accelerator accelerator = random.accelerator();
    const Flexibility less = random.flexibility(layer, accelerator);
    const Factorization rule = random.factorization();
    const auto what = static_cast<Loosen>(compared % 5);
    const CheckedSpace small{layer, accelerator, less, rule};
    const CheckedSpace large{layer, accelerator, RandomSpaces::loosened(less, what), rule};
    std::uint64_t members = 0, more = 0, inside = 0;
    small.enumerate([&](const Mapping& mapping) {
      EXPECT_TRUE(large.contains(mapping));
      return ++members < 3000;
    });
    large.enumerate([&](const Mapping& mapping) {
      const auto violations = small.violations(mapping);
      inside += violations.empty() ? 1 : 0;
      refused[what] += violations.empty() ? 0 : 1;
      for (const Violation& violation : violations)
        EXPECT_TRUE(blamed.at(what).contains(violation.rule)) << violation.message;
      return ++more < 20'000;
    });
    if (members == 3000 || more == 20'000) continue;
    EXPECT_EQ(inside, members);
    ++compared;
  }
  for (const auto& [what, rules] : blamed) EXPECT_GT(refused[what], 0) << static_cast<int>(what);
}

TEST(MapSpace, HintsNeverChangeACount) {
  RandomSpaces random(5);
  for (int i = 0; i < 30; ++i) {
    const Layer layer = random.layer(5);
    Accelerator accelerator = random.accelerator();
    const Flexibility flexibility = random.flexibility(layer, accelerator);
    const auto plain = CheckedSpace{layer, accelerator, flexibility}.count();
    accelerator.hints.min_utilization = 0.9;
    EXPECT_EQ((CheckedSpace{layer, accelerator, flexibility}.count()), plain);
  }
}

TEST(MapSpace, SameSeedSameMappings) {
  RandomSpaces random(3);
  const Layer layer = make_gemm("gemm", {.M = 12, .N = 8, .K = 6});
  const Accelerator accelerator = random.accelerator();
  const MapSpace space(layer, accelerator, accelerator.flexibility);
  Sampler a(space), b(space);
  std::mt19937_64 one(42), two(42);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(draw_mapping(space, a, one), draw_mapping(space, b, two));
}

// Dims with too many chains to list are drawn by counting. The same dims, few enough to list: the same chains.
TEST(MapSpace, ChainsDrawnByCountingAreTheListedOnes) {
  RandomSpaces random(17);
  for (int i = 0; i < 60; ++i) {
    const Layer layer = random.layer(9);
    const Accelerator accelerator = random.accelerator();
    const MapSpace space(layer, accelerator, random.flexibility(layer, accelerator), random.factorization());
    for (int d = 0; d < space.dims; ++d) {
      std::set<std::vector<Count>> listed, drawn;
      for_each_chain(space.size(d), space.slots(d), space.rules.factorization, [&](std::span<const Count> bounds) {
        if (space.tiles_allowed(d, space.make_chain(d, bounds))) listed.emplace(bounds.begin(), bounds.end());
        return true;
      });
      const ChainSpace counted(space.rules, d);
      ASSERT_EQ(counted.count(), static_cast<double>(listed.size()));
      std::vector<Count> bounds;
      for (std::size_t n = 0; n < 40 * listed.size(); ++n) {
        counted.sample(random.engine(), bounds);
        drawn.insert(bounds);
        ASSERT_TRUE(listed.contains(bounds));
      }
      EXPECT_GE(static_cast<double>(drawn.size()), 0.99 * static_cast<double>(listed.size()));
    }
  }
}

}  // namespace
}  // namespace pliant
