// SPDX-License-Identifier: Apache-2.0
// Membership, enumeration, counting and sampling speak about the same set of mappings.
#include "flex/mapspace/mapspace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "flex/mapspace/enumerate.h"
#include "support/random_space.h"

namespace pliant {
namespace {

using testing::key;
using testing::RandomSpaces;

constexpr std::uint64_t kMostMappings = 60'000;

struct Listed {
  std::set<std::string> keys;
  bool complete = false;
};

/// Through core's plain generator and the checker: shares no code with MapSpace's own enumeration.
Listed ground_truth(const MapSpace& space, std::map<Violation::Rule, int>* refused = nullptr) {
  Listed result;
  std::uint64_t seen = 0;
  result.complete = for_each_mapping(space.layer(), space.accelerator(), space.flexibility(), space.factorization(),
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
    const MapSpace space(layer, accelerator, random.flexibility(layer, accelerator), random.factorization());
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
    ASSERT_EQ(keys, truth.keys) << "space " << compared << ", rule " << to_string(space.factorization());
    const auto count = space.count();
    ASSERT_TRUE(count.has_value());
    ASSERT_EQ(*count, keys.size()) << "space " << compared << ", rule " << to_string(space.factorization());
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
  int compared = 0;
  while (compared < 120) {
    const Layer layer = random.layer(5);
    const Accelerator accelerator = random.accelerator();
    const MapSpace space(layer, accelerator, random.flexibility(layer, accelerator), random.factorization());
    std::set<std::string> keys;
    const bool small = space.enumerate([&](const Mapping& mapping) {
      keys.insert(key(mapping));
      return keys.size() <= 150;
    });
    if (!small) continue;
    ++compared;
    SpaceSampler sampler = space.sampler();
    if (keys.empty()) {
      EXPECT_FALSE(sampler.sample(random.engine(), 2000).has_value());
      continue;
    }
    if (sampler.outcomes() > 2000 * static_cast<double>(keys.size())) continue;  // too rare to meet them all here
    std::set<std::string> met;
    for (int i = 0; i < 4000 && met.size() < keys.size(); ++i) {
      const auto mapping = sampler.sample(random.engine());
      ASSERT_TRUE(mapping.has_value());
      ASSERT_TRUE(space.contains(*mapping));
      met.insert(key(*mapping));
    }
    EXPECT_EQ(met, keys) << "space " << compared;
  }
}

// Chi-square with n - 1 degrees of freedom: mean n - 1, variance 2 (n - 1); five standard deviations.
void expect_uniform(const MapSpace& space, std::uint64_t seed) {
  std::map<std::string, int> met;
  space.enumerate([&](const Mapping& mapping) {
    met[key(mapping)] = 0;
    return true;
  });
  ASSERT_GT(met.size(), 10u);
  ASSERT_LT(met.size(), 5000u);
  SpaceSampler sampler = space.sampler();
  std::mt19937_64 random(seed);
  const int samples = static_cast<int>(met.size()) * 40;
  for (int i = 0; i < samples; ++i) ++met.at(key(sampler.sample(random).value()));
  double chi = 0;
  for (const auto& [name, n] : met) chi += (n - 40.0) * (n - 40.0) / 40.0;
  const auto degrees = static_cast<double>(met.size() - 1);
  EXPECT_LT(chi, degrees + 5 * std::sqrt(2 * degrees)) << met.size() << " mappings";
  EXPECT_GT(chi, degrees - 5 * std::sqrt(2 * degrees)) << met.size() << " mappings";
}

TEST(MapSpace, SamplingIsUniform) {
  RandomSpaces random(99);
  int tested = 0;
  while (tested < 25) {
    const Layer layer = random.layer(5);
    const Accelerator accelerator = random.accelerator();
    const MapSpace space(layer, accelerator, random.flexibility(layer, accelerator), random.factorization());
    std::uint64_t size = 0;
    const bool all = space.enumerate([&](const Mapping&) { return ++size < 1500; });
    if (!all || size < 20 || space.sampler().outcomes() > 1000 * static_cast<double>(size)) continue;
    expect_uniform(space, static_cast<std::uint64_t>(tested));
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
    const MapSpace small(layer, accelerator, less, rule);
    const MapSpace large(layer, accelerator, RandomSpaces::loosened(less, what), rule);
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
    const auto plain = MapSpace(layer, accelerator, flexibility).count();
    accelerator.hints.min_utilization = 0.9;
    EXPECT_EQ(MapSpace(layer, accelerator, flexibility).count(), plain);
  }
}

TEST(MapSpace, AnEstimateHoldsTheCount) {
  RandomSpaces random(31);
  int inside = 0, tried = 0;
  while (tried < 40) {
    const Layer layer = random.layer(8);
    const Accelerator accelerator = random.accelerator();
    const MapSpace space(layer, accelerator, random.flexibility(layer, accelerator), Factorization::kPerfect);
    const auto count = space.count();
    if (!count || *count < 50) continue;
    ++tried;
    const CountEstimate estimate = space.estimate(4000, 1);
    const auto exact = static_cast<double>(*count);
    inside += estimate.low <= exact && exact <= estimate.high ? 1 : 0;
  }
  EXPECT_GE(inside, 34);  // 38 expected of 40 at 95 %
}

TEST(MapSpace, SameSeedSameMappings) {
  RandomSpaces random(3);
  const Layer layer = make_gemm("gemm", {.M = 12, .N = 8, .K = 6});
  const Accelerator accelerator = random.accelerator();
  const MapSpace space(layer, accelerator, accelerator.flexibility);
  SpaceSampler a = space.sampler(), b = space.sampler();
  std::mt19937_64 one(42), two(42);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(a.sample(one), b.sample(two));
}

}  // namespace
}  // namespace pliant
