// SPDX-License-Identifier: Apache-2.0
// Paths through groups of tiles, and the steps that their tiles say (docs/dev/proof, L12.4 and L13.2).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "dse/mappers/exact/search/search.h"
#include "dse/mappers/exact/tasks_of_groups.h"
#include "dse/mappers/exact/words_of_transfers.h"

namespace pliant::exact {
namespace {

// Each mapping takes the steps that its tiles say, dim by dim: the most of what the memories say.
TEST(Lemma, StepsOfAPath) {
  int slow = 0, twice = 0;
  const auto check = [&](const Truth& truth, const ResolvedTask& resolved) {
    for (const Choice& choice : truth.choices) {
      Bounded bounded(resolved, choice);
      ASSERT_TRUE(bounded.lattice.build());
      bounded.lattice.leave_out_from(1e300);
      const Boxes& boxes = bounded.lattice.boxes();
      for (const Priced& one : choice.mappings) {
        std::array<double, kMaxDims> slower{};
        slower.fill(1);
        std::array<Count, kMaxDims> tile{};
        tile.fill(1);
        double product = 1;
        int memories = 0;
        bool known = true;
        for (int k = 0, inside = truth.problem.levels; k + 1 < bounded.lattice.stages(); ++k) {
          for (; inside-- > resolved.memories[static_cast<std::size_t>(k)];) {
            const LevelMapping& level = one.mapping.levels[static_cast<std::size_t>(inside)];
            for (const SpatialLoop& loop : level.spatial) tile[static_cast<std::size_t>(loop.dim)] *= loop.bound;
            for (const Loop& loop : level.temporal) tile[static_cast<std::size_t>(loop.dim)] *= loop.bound;
          }
          ++inside;
          std::array<int, kMaxDims> at{};
          for (int d = 0; d < truth.problem.dims; ++d) {
            const auto& states = boxes.axis(k, d).states;
            const auto state = std::ranges::find(states, tile[static_cast<std::size_t>(d)], &Axis::State::tile);
            known &= state != states.end();  // one that leaves the same as a smaller tile is no state
            if (!known) break;
            at[static_cast<std::size_t>(d)] = static_cast<int>(state - states.begin());
          }
          if (!known) break;
          std::array<double, kMaxDims> alone{};
          alone.fill(1);
          memories += boxes.slow_down(k, boxes.node(k, at), alone) > 1 ? 1 : 0;
          product = boxes.slow_down(k, boxes.node(k, at), slower);
        }
        if (!known) continue;
        EXPECT_TRUE(at_most(bounded.lattice.steps() * product, one.steps)) << product << " " << one.steps;
        slow += product > 1 ? 1 : 0;
        twice += memories > 1 ? 1 : 0;
      }
    }
  };
  const auto rounds_everywhere = [](const Task& task) { return task.factorization == Factorization::kRuby; };
  for_each_task(100, check, rounds_everywhere);
  for_each_task(10, check, rounds_everywhere, task_of_units_on_units);
  for_each_task(10, check, rounds_everywhere, task_of_units_twice);
  EXPECT_GT(slow, 1000);
  EXPECT_GT(twice, 20);
}

// Path by path a search through groups says no more than the mappings of a choice cost, and more than tables do.
TEST(Lemma, PathsOfGroups) {
  int more = 0, all = 0, whole = 0;
  const auto check = [&](const Truth& truth, const ResolvedTask& resolved) {
    for (const Choice& choice : truth.choices) {
      const double least = choice.least([](const Priced& m) { return m.value; });
      for (const double nodes : {1.0, 20.0, 120.0, 1e6}) {
        for (const double worse : {0.95, 1.0, 1.002, 1.03, 2.0, kInfinity}) {
          Bounded tables(resolved, choice), paths(resolved, choice);
          tables.lattice.group_beyond(nodes);
          paths.lattice.group_beyond(nodes);
          Incumbent by_tables{std::nullopt, {}, worse * least}, found = by_tables;
          const double before = bound_choice(tables.lattice, by_tables, tables.limits);
          const double bound = close_choice(paths.lattice, found, paths.limits);
          EXPECT_TRUE(at_most(bound, least)) << bound << " " << least << " " << worse << " " << nodes;
          EXPECT_TRUE(at_most(std::min(before, found.value), bound)) << before << " " << bound;
          EXPECT_TRUE(at_most(least, found.value) || worse < 1) << found.value << " " << least;
          if (!paths.lattice.grouped()) continue;
          ++all;
          more += at_most(bound, before) ? 0 : 1;
          whole += at_most(least, bound) ? 1 : 0;
        }
      }
    }
  };
  for_each_task(150, check, has_temporal_remainders);
  for_each_task(60, check, has_temporal_remainders, task_of_long_dims);
  for_each_task(10, check, has_temporal_remainders, task_of_units_on_units);
  for_each_task(10, check, has_temporal_remainders, task_of_units_twice);
  for (const char* const size : {"150", "141"}) {
    const Truth truth(task_of_tiles_and_steps(size));
    ASSERT_TRUE(truth.complete);
    check(truth, ResolvedTask(truth.task, truth.problem));
  }
  EXPECT_GT(all, 1000);
  EXPECT_GT(more, 10);  // nearly all tables say all there is: tasks are small
  EXPECT_GT(whole, 300);
}

}  // namespace
}  // namespace pliant::exact
