// SPDX-License-Identifier: Apache-2.0
// Mappings read off the tiles of a bound, against all legal mappings of the choice: each is one of them, and often the
// best.
#include "dse/mappers/exact/search/read_off.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "dse/mappers/exact/truth_by_choice.h"

namespace pliant::exact {
namespace {

struct Found {
  int choices = 0, mappings = 0, best = 0, met = 0;
};

void read_off_and_compare(const Truth& truth, const ResolvedTask& resolved, const Choice& choice,
                          const Spatial& spatial, Found& found) {
  ChoiceBounds bounds(resolved);
  const auto looked = bounds.look_at(spatial).bounds;
  ASSERT_NE(looked, nullptr);
  std::size_t number = 0;
  double bound = kInfinity;
  looked->keeps_below(kInfinity, [&](std::size_t keeps, const SharedBound& shared) {
    if (bounds.keeps(keeps) != choice.keeps) return;
    number = keeps;
    bound = shared.value;
  });
  ASSERT_LT(bound, kInfinity);
  SearchLimits limits{SearchOptions{}};
  Incumbent incumbent;
  read_off(resolved, *looked, number, bound, incumbent, limits);
  EXPECT_GT(limits.priced, 0u);
  ++found.choices;
  if (!incumbent.mapping) return;
  ++found.mappings;
  const auto same = [&](const Priced& one) { return std::abs(one.value - incumbent.value) <= kSame * one.value; };
  EXPECT_TRUE(std::any_of(choice.mappings.begin(), choice.mappings.end(), same)) << incumbent.value;
  Nest nest(truth.problem);
  nest.load(flatten(truth.problem, *incumbent.mapping));
  EXPECT_EQ(task_value(truth.task, nest.price()), incumbent.value);
  found.best += incumbent.value <= choice.least([](const Priced& m) { return m.value; }) * (1 + kSame);
  found.met += no_better(bound, incumbent.value);
  // What is no better than the incumbent does not take its place.
  Incumbent better{std::nullopt, {}, incumbent.value / 2};
  read_off(resolved, *looked, number, bound, better, limits);
  EXPECT_FALSE(better.mapping);
  EXPECT_EQ(better.value, incumbent.value / 2);
}

TEST(ReadOff, WithPerfectFactorsItIsAMappingOfTheChoiceAndOftenTheBest) {
  Found found;
  for_each_task(
      200,
      [&](const Truth& truth, const ResolvedTask& resolved) {
        for (const Choice& choice : truth.choices) read_off_and_compare(truth, resolved, choice, choice.spatial, found);
      },
      [](const Task& task) { return task.factorization == Factorization::kPerfect; });
  EXPECT_GT(found.choices, 1000);
  EXPECT_GT(found.best, found.choices * 3 / 4);
  EXPECT_GT(found.met, found.choices / 3);  // there the choice needs no lattice
}

TEST(ReadOff, WithDurationsItIsAMappingOfTheChoiceAndOftenTheBest) {
  Found found;
  for_each_task(
      200,
      [&](const Truth& truth, const ResolvedTask& resolved) {
        for (const Choice& choice : truth.choices) {
          std::set<Durations> chosen;
          for (const Priced& mapping : choice.mappings) chosen.insert(mapping.durations);
          for (const Durations& durations : chosen) {
            Spatial spatial = choice.spatial;
            spatial.durations = durations;
            read_off_and_compare(truth, resolved, choice, spatial, found);
          }
        }
      },
      [](const Task& task) { return task.factorization == Factorization::kRubyS; });
  EXPECT_GT(found.choices, 1000);
  EXPECT_GT(found.best, found.choices * 3 / 4);
  EXPECT_GT(found.met, found.choices / 3);  // there the choice needs no lattice
}

}  // namespace
}  // namespace pliant::exact
