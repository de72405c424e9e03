// SPDX-License-Identifier: Apache-2.0
// The floor of unrollings that begin alike, against every mapping that goes on from there; and which of many are
// listed.
#include "dse/mappers/exact/bounds/decided_factors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "dse/mappers/exact/bounds/fanout_floors.h"
#include "dse/mappers/exact/bounds/unrolling_bounds.h"
#include "dse/mappers/exact/truth_by_choice.h"
#include "support/random_cases.h"

namespace pliant::exact {
namespace {

bool certified(const Task& task) {
  Conventions conventions = task.accelerator.conventions;
  if (conventions.halo == Conventions::Halo::kRun && conventions.footprint == Conventions::Footprint::kBoundingBox)
    conventions.halo = Conventions::Halo::kDisplacement;
  return conventions.name() != "custom";
}

std::shared_ptr<const std::vector<Unrolling>> list_of(std::vector<Unrolling> unrollings) {
  return std::make_shared<const std::vector<Unrolling>>(std::move(unrollings));
}

std::shared_ptr<const NetworkUnrollings> network_of(const ResolvedTask& resolved,
                                                    const std::vector<ListedFanout>& fanouts) {
  SearchLimits limits({});
  return std::make_shared<const NetworkUnrollings>(resolved.task, resolved.problem, fanouts, true, kInfinity, limits);
}

// Whatever is decided of a choice, from the outermost fanout inwards and dim by dim, none of its mappings costs less;
// nor where the innermost fanout is left and the floors of its unrollings are found at once.
TEST(Lemma, FactorsThatAreDecided) {
  int partial = 0, sharper = 0, close = 0, several = 0, last = 0, near = 0, together = 0;
  const auto check = [&](const Truth& truth, const ResolvedTask& resolved) {
    const Problem& p = truth.problem;
    const ChoiceBounds bounds(resolved);
    SearchLimits limits({});
    const double nothing = DecidedFactors(resolved, bounds, limits).least_energy();
    for (const Choice& choice : truth.choices) {
      const double energy = choice.least([](const Priced& mapping) { return mapping.energy; });
      const double value = choice.least([](const Priced& mapping) { return mapping.value; });
      const double steps = choice.least([](const Priced& mapping) { return mapping.steps; });
      DecidedFactors floor(resolved, bounds, limits);
      int fanouts = 0;
      for (int l = 0; l < p.levels; ++l) {
        if (p.is_memory[static_cast<std::size_t>(l)]) continue;
        ++fanouts;
        // All that is left, where it is decided together.
        std::vector<ListedFanout> rest;
        for (int inner = p.levels - 1; inner >= l; --inner)
          if (!p.is_memory[static_cast<std::size_t>(inner)])
            rest.push_back({inner, list_of({*choice.spatial.unrolling[static_cast<std::size_t>(inner)]})});
        const auto network = network_of(resolved, rest);
        if (network->fanouts() == rest.size()) {
          floor.decide_last(network, kInfinity);
          std::vector<PartialFloor::Found> found;
          floor.least_of_each(kInfinity, kInfinity, found);
          ASSERT_EQ(found.size(), 1u);
          EXPECT_TRUE(at_most(found[0].floor, value)) << found[0].floor << " > " << value;
          // What is too slow or costs too much is said to be.
          EXPECT_TRUE(at_most(floor.least_of_each(kInfinity, 0, found).slow, steps) && found.empty());
          const double left_out = floor.least_of_each(0, kInfinity, found).floor;
          EXPECT_TRUE(at_most(left_out, value) && found.empty());
          together += rest.size() > 1 ? 1 : 0;
          ++last;
          near += left_out > 0.9 * value ? 1 : 0;
        }
        for (int d = 0; d < p.dims; ++d) {
          const Unrolling& unrolling = *choice.spatial.unrolling[static_cast<std::size_t>(l)];
          floor.decide(l, d, unrolling.rows[static_cast<std::size_t>(d)], unrolling.cols[static_cast<std::size_t>(d)]);
          const double least = floor.least_energy();
          EXPECT_TRUE(at_most(least, energy)) << "level " << l << ", dim " << d << ": " << least << " > " << energy;
          const double sharp = floor.least(steps, 0);
          EXPECT_TRUE(at_most(sharp, value)) << "level " << l << ", dim " << d;
          ++partial;
          sharper += least > nothing * (1 + kSame) ? 1 : 0;
          close += least > 0.9 * energy ? 1 : 0;
        }
      }
      several += fanouts > 1 ? 1 : 0;
      // Whatever was decided can be taken back.
      for (int l = p.levels - 1; l >= 0; --l)
        for (int d = p.dims - 1; d >= 0 && !p.is_memory[static_cast<std::size_t>(l)]; --d) floor.reopen(l, d);
      EXPECT_EQ(floor.least_energy(), nothing);
    }
  };
  for_each_task(600, check, certified);
  // And where tensors live on chip: sums do not leave the memory in which outputs live.
  for_each_task(300, check, certified, [](std::uint64_t seed) {
    return tests::random_case(seed, {.most_mappings = 3'000, .residents = true}).task;
  });
  EXPECT_GT(several, 400);
  EXPECT_GT(sharper, partial / 10);
  EXPECT_GT(close, 40);
  EXPECT_GT(last, 400);
  EXPECT_GT(near, 40);
  EXPECT_GT(together, 40);
}

// What the last fanouts can be at best is known before: floors of what begins alike, with the frontier of all that the
// last ones can be, against every mapping; and what is left out by a limit.
TEST(Lemma, WhatTheLastFanoutsShareAtBest) {
  int partial = 0, sharper = 0, left_out = 0, close = 0;
  for_each_task(
      500,
      [&](const Truth& truth, const ResolvedTask& resolved) {
        const Problem& p = truth.problem;
        const ChoiceBounds bounds(resolved);
        SearchLimits limits({});
        std::vector<int> levels;  // of fanouts, from the innermost outwards
        for (int l = p.levels - 1; l >= 0; --l)
          if (!p.is_memory[static_cast<std::size_t>(l)]) levels.push_back(l);
        if (levels.empty()) return;
        std::vector<std::vector<Unrolling>> lists(levels.size());
        for (const Choice& choice : truth.choices)
          for (std::size_t f = 0; f < levels.size(); ++f) {
            const Unrolling& one = *choice.spatial.unrolling[static_cast<std::size_t>(levels[f])];
            if (std::ranges::find(lists[f], one) == lists[f].end()) lists[f].push_back(one);
          }
        std::vector<ListedFanout> all;
        for (std::size_t f = 0; f < levels.size(); ++f) all.push_back({levels[f], list_of(lists[f])});
        const double lowest = DecidedFactors(resolved, bounds, limits).least(p.busy_cycles, 0);
        for (const double limit : {kInfinity, 1.3 * lowest})
          for (const double enough : {kInfinity, 1.6 * lowest}) {
            DecidedFactors floor(resolved, bounds, limits);
            const auto network = network_of(resolved, all);
            floor.decide_last(network, enough);  // a better mapping is found later
            const double beyond = floor.decide_last(network, std::min(limit, enough)).beyond;
            EXPECT_GE(beyond, std::min(limit, enough));
            for (const Choice& choice : truth.choices) {
              const double value = choice.least([](const Priced& mapping) { return mapping.value; });
              const double steps = choice.least([](const Priced& mapping) { return mapping.steps; });
              const auto holds = [&] {
                // A choice that was left out costs what is said.
                const double sharp = floor.least(steps, 0), least = std::min(sharp, beyond);
                for (const double asked : {0.7 * sharp, sharp, 1.2 * sharp}) {
                  if (const double found = floor.least(steps, asked); sharp >= asked)
                    EXPECT_EQ(found, sharp);
                  else
                    EXPECT_LT(found, asked);
                }
                EXPECT_TRUE(at_most(least, value)) << least << " > " << value;
                ++partial;
                sharper += least > lowest * (1 + kSame) ? 1 : 0;
                left_out += least == beyond ? 1 : 0;
                close += least > 0.9 * value ? 1 : 0;
              };
              holds();
              for (std::size_t f = levels.size(); f-- > network->fanouts();)
                for (int d = 0; d < p.dims; ++d) {
                  const Unrolling& one = *choice.spatial.unrolling[static_cast<std::size_t>(levels[f])];
                  floor.decide(levels[f], d, one.rows[static_cast<std::size_t>(d)],
                               one.cols[static_cast<std::size_t>(d)]);
                  holds();
                }
              for (std::size_t f = network->fanouts(); f < levels.size(); ++f)
                for (int d = p.dims; d-- > 0;) floor.reopen(levels[f], d);
            }
          }
      },
      certified);
  EXPECT_GT(sharper, partial / 10);
  EXPECT_GT(left_out, 100);
  EXPECT_GT(close, 1000);
}

// Factors of one fanout, without what is rows and what columns, against every mapping that begins like this, whatever
// the others are.
TEST(Lemma, FactorsOfOneFanout) {
  int partial = 0, sharper = 0, close = 0, both_sides = 0;
  for_each_task(
      1500,
      [&](const Truth& truth, const ResolvedTask& resolved) {
        const Problem& p = truth.problem;
        const ChoiceBounds bounds(resolved);
        FanoutFloors floors(resolved, bounds);
        std::vector<int> order(static_cast<std::size_t>(p.dims));
        std::iota(order.begin(), order.end(), 0);
        for (const int l : members(p.fanouts)) {
          floors.begin(l, order);
          const double nothing = floors.least({}, 1, kInfinity);
          for (const Choice& choice : truth.choices) {
            const double value = choice.least([](const Priced& mapping) { return mapping.value; });
            const Unrolling& here = *choice.spatial.unrolling[static_cast<std::size_t>(l)];
            double rounds = 1;
            std::vector<Count> chosen;
            for (int d = 0; d < p.dims; ++d) {
              const auto at = static_cast<std::size_t>(d);
              const Count factor = chosen.emplace_back(std::min(here.factor(d), static_cast<Count>(p.size[at])));
              both_sides += here.rows[at] > 1 && here.cols[at] > 1 ? 1 : 0;
              rounds *= std::ceil(p.size[at] / static_cast<double>(factor));
              double least = 0;
              for (const double enough : {kInfinity, value * (1 + kSame), 0.9 * value}) {
                least = floors.least(chosen, rounds, enough);
                EXPECT_TRUE(at_most(least, value)) << "level " << l << ", dim " << d << ": " << least << " > " << value;
              }
              ++partial;
              sharper += least > nothing * (1 + kSame) ? 1 : 0;
              close += least > 0.9 * value ? 1 : 0;
            }
          }
        }
      },
      certified);
  EXPECT_GT(sharper, partial / 20);
  EXPECT_GT(close, 40);
  EXPECT_GT(both_sides, 40);
}

/// Two arrays and many unrollings of both.
Task two_arrays(Factorization factorization) {
  Task task = task_of(
      "word_bits: 8\nlevels:\n"
      "  - {memory: DRAM, capacity: unbounded, read_pj: 40, write_pj: 40}\n"
      "  - {memory: SRAM, capacity: 4 KiB, read_pj: 4, write_pj: 4, may_bypass: [inputs, weights, outputs]}\n"
      "  - {fanout: Cores, rows: 29}\n"
      "  - {memory: Reg, capacity: 64 B, read_pj: 0.5, write_pj: 0.5, may_bypass: [inputs, weights, outputs]}\n"
      "  - {fanout: PEs, rows: 6, cols: 8}\n"
      "  - {compute: MAC, mac_pj: 0.1}\n",
      "  dims: {M: 24, C: 30, P: 12, R: 3}\n  tensors:\n"
      "    - {name: I, role: inputs, projection: [C, P + R]}\n"
      "    - {name: W, role: weights, projection: [M, C, R]}\n"
      "    - {name: O, role: outputs, projection: [M, P]}\n");
  task.factorization = factorization;
  return task;
}

using Factors = std::vector<Count>;

Factors factors_of(const Problem& p, const SpatialChoices& choices, std::size_t i) {
  Spatial spatial;
  choices.get(i, spatial);
  Factors all;
  for (int l = 0; l < p.levels; ++l)
    for (int d = 0; d < p.dims && !p.is_memory[static_cast<std::size_t>(l)]; ++d)
      all.insert(all.end(), {spatial.unrolling[static_cast<std::size_t>(l)]->rows[static_cast<std::size_t>(d)],
                             spatial.unrolling[static_cast<std::size_t>(l)]->cols[static_cast<std::size_t>(d)]});
  return all;
}

// Lists of one band of floors after another hold every unrolling that could cost less than what is enough; what is not
// listed costs what is said of it.
TEST(UnrollingTree, BandsOfFloorsLeaveNothingOut) {
  for (const Factorization factorization : {Factorization::kRubyS, Factorization::kRuby}) {
    const Task task = two_arrays(factorization);
    const Problem problem(task.layer, task.accelerator);
    const ResolvedTask resolved(task, problem);
    ChoiceBounds bounds(resolved);
    SearchLimits no_limits({});
    DecidedFactors floors(resolved, bounds, no_limits);
    SearchLimits limits({});
    const SpatialChoices all(task, problem, limits);
    ASSERT_GT(all.size(), 32'768u);  // otherwise floors are not worth their time
    std::vector<double> sorted;
    Spatial spatial;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all.get(i, spatial);
      sorted.push_back(bounds.look_at(spatial).least);
    }
    const std::vector<double> least = sorted;
    std::sort(sorted.begin(), sorted.end());
    for (const std::size_t most : {std::size_t{1000}, std::size_t{100'000}}) {
      // A better mapping is found on the way.
      const double enough = sorted[sorted.size() / 10];
      std::set<Factors> listed;
      SpatialChoices::LeftOut left_out{
          .enough = sorted[sorted.size() / 8], .partial = &floors, .band = 1.05, .most = most};
      SpatialChoices some(task, problem, limits, left_out);
      bool put_back = false;
      for (int bands = 0;; ++bands) {
        for (std::size_t i = 0; i < some.size(); ++i) {
          EXPECT_TRUE(listed.insert(factors_of(problem, some, i)).second) << "listed twice";
          EXPECT_LT(some.least(i), left_out.enough);
        }
        EXPECT_LE(some.size(), 2 * most);
        if (!some.more()) {
          EXPECT_GT(bands, 2);
          EXPECT_TRUE(put_back);
          break;
        }
        EXPECT_LT(some.unlisted_floor(), left_out.enough);
        if (!put_back && some.size() > 0) {
          put_back = true;
          listed.clear();
          some.put_back();  // and come once more
        }
        left_out.band = 1.2;
        if (bands == 2) left_out.enough = enough;
        some.list_next(left_out);
        ASSERT_LT(bands, 5000);
      }
      EXPECT_EQ(some.unlisted_floor(), kInfinity);
      EXPECT_GE(some.dear(), enough);
      std::size_t others = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (listed.contains(factors_of(problem, all, i))) continue;
        ++others;
        EXPECT_TRUE(at_most(enough, least[i])) << enough << " " << least[i];
      }
      EXPECT_GT(others, all.size() / 4);
    }
  }
}

// Where nothing is known of what unrollings cost, lists go on to the end.
TEST(UnrollingTree, BandsOfNothingEnd) {
  Task task = two_arrays(Factorization::kRubyS);
  task.objective = Objective::kEnergy;
  for (Level& level : task.accelerator.levels)
    if (level.is_memory()) level.memory().read_pj = level.memory().write_pj = level.memory().update_pj = 0;
  task.accelerator.levels.back().compute().mac_pj = 0;
  const Problem problem(task.layer, task.accelerator);
  const ResolvedTask resolved(task, problem);
  ChoiceBounds bounds(resolved);
  SearchLimits limits({});
  DecidedFactors floors(resolved, bounds, limits);
  ASSERT_EQ(floors.least(problem.busy_cycles, 0), 0);
  const SpatialChoices all(task, problem, limits);
  const SpatialChoices::LeftOut left_out{.partial = &floors, .band = 1.02, .most = 5'000};
  SpatialChoices some(task, problem, limits, left_out);
  std::size_t listed = some.size();
  for (int bands = 0; some.more(); listed += some.size()) {
    some.list_next(left_out);
    ASSERT_LT(++bands, 1000);
  }
  EXPECT_EQ(listed, all.size());
}

// Whatever the limit, what the last fanout leaves out has floors that are no less than what is said of it.
TEST(UnrollingTree, WhatTheLastFanoutLeavesOutIsSaid) {
  for (const Factorization factorization : {Factorization::kPerfect, Factorization::kRubyS}) {
    const Task task = two_arrays(factorization);
    const Problem problem(task.layer, task.accelerator);
    const ResolvedTask resolved(task, problem);
    const ChoiceBounds bounds(resolved);
    const auto levels = static_cast<std::size_t>(problem.levels);
    const std::size_t inner = levels - 1, outer = levels - 3;
    SearchLimits limits({});
    const SpatialChoices all(task, problem, limits);
    std::vector<Unrolling> ones;
    std::set<std::pair<std::array<std::int32_t, kMaxDims>, std::array<std::int32_t, kMaxDims>>> met;
    Spatial spatial;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all.get(i, spatial);
      if (met.insert({spatial.unrolling[inner]->rows, spatial.unrolling[inner]->cols}).second)
        ones.push_back(*spatial.unrolling[inner]);
    }
    for (std::size_t i = 0; i < all.size(); i += all.size() / 20) {
      all.get(i, spatial);
      DecidedFactors floor(resolved, bounds, limits);
      for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dims); ++d)
        floor.decide(static_cast<int>(outer), static_cast<int>(d), spatial.unrolling[outer]->rows[d],
                     spatial.unrolling[outer]->cols[d]);
      floor.decide_last(network_of(resolved, {{static_cast<int>(inner), list_of(ones)}}), kInfinity);
      std::vector<PartialFloor::Found> every, some;
      floor.least_of_each(kInfinity, kInfinity, every);
      std::vector<double> floors;
      for (const PartialFloor::Found& one : every) floors.push_back(one.floor);
      std::sort(floors.begin(), floors.end());
      for (std::size_t at = 0; at < floors.size(); at += 1 + floors.size() / 30) {
        const PartialFloor::Others others = floor.least_of_each(floors[at], kInfinity, some);
        const auto below =
            static_cast<std::size_t>(std::lower_bound(floors.begin(), floors.end(), floors[at]) - floors.begin());
        EXPECT_EQ(some.size(), below);
        EXPECT_TRUE(others.floor >= floors[at] && at_most(others.floor, floors[below])) << others.floor;
      }
    }
  }
}

}  // namespace
}  // namespace pliant::exact
