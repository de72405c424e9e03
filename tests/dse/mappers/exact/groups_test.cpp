// SPDX-License-Identifier: Apache-2.0
// Groups of tiles (docs/dev/proof, L12): tables over groups against all mappings of a choice, whatever the groups.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "dse/mappers/exact/chain/groups.h"
#include "dse/mappers/exact/search/search.h"
#include "dse/mappers/exact/tasks_of_groups.h"
#include "dse/mappers/exact/words_of_transfers.h"
#include "support/draw.h"

namespace pliant::exact {
namespace {

// Every number of iterations is in one range, the last ones complete the dim, and what is left outside any memory does
// not differ by more than the ratio.
TEST(Groups, RangesCoverAllIterationsInTime) {
  for (const Count size : {1, 2, 7, 30, 64, 97, 1000}) {
    for (const Count units : {1, 2, 5, 30}) {
      if (units > size) continue;
      for (const double ratio : {1.0, 1.1, 1.5, 4.0, 1e3}) {
        const std::vector<Count> spread{1, units, units};
        const std::vector<TimeRange> ranges = time_ranges(size, spread, ratio);
        Count next = 1;
        for (const TimeRange& range : ranges) {
          EXPECT_EQ(range.first, next);
          EXPECT_LE(range.first, range.last);
          next = range.last + 1;
          for (const Count inside : spread) {
            if (&range == &ranges.back()) continue;
            const auto most = static_cast<double>(ceil_div(size, inside * range.first));
            const auto fewest = static_cast<double>(ceil_div(size, inside * range.last));
            EXPECT_LE(most, ratio * fewest * (1 + kSame) + kSame) << size << " " << units << " " << ratio;
          }
        }
        EXPECT_EQ(ceil_div(size, units * ranges.back().first), 1);
        EXPECT_TRUE(ranges.size() == 1 || ceil_div(size, units * ranges[ranges.size() - 2].last) > 1);
        EXPECT_GE(ranges.back().last, 2 * size - 1);
      }
    }
  }
}

// Outside all units: a loop from one tile to another leads from the group of the one to the group of the other.
TEST(Groups, EveryLoopLeadsFromGroupToGroup) {
  int loops = 0;
  for_each_task(
      60,
      [&](const Truth& truth, const ResolvedTask& resolved) {
        const Count size = truth.task.layer.dims[0].size;
        for (const Choice& choice : truth.choices) {
          for (const double nodes : {4.0, 12.0, 40.0}) {
            const GroupedAxes groups = build_grouped_axes(resolved, choice.spatial, choice.keeps, nodes);
            if (!groups.axes || size == 1) continue;
            const Axis& axis = groups.axes->front()->back();
            const auto group_of = [&](Count tile) {
              int found = -1;
              for (std::size_t s = 0; s < axis.states.size(); ++s)
                if (axis.states[s].tile <= tile && tile <= axis.largest[s]) found = static_cast<int>(s);
              return found;
            };
            for (const Count time : {1, 2, 3, 4, 5}) {  // so much fits everywhere
              const Count tile = time * axis.unit, left = ceil_div(size, tile);
              const int from = group_of(tile);
              if (from < 0) continue;
              EXPECT_LE(axis.states[static_cast<std::size_t>(from)].left, left);
              for (Count bound = 2; bound <= left; ++bound) {
                const int to = group_of(tile * bound);
                ASSERT_GE(to, 0) << size << " " << tile << " " << bound;
                const std::span<const int> below = axis.below(to);
                EXPECT_NE(std::find(below.begin(), below.end(), from), below.end()) << tile << " " << bound;
                ++loops;
              }
            }
          }
        }
      },
      has_temporal_remainders, task_of_long_dims);
  EXPECT_GT(loops, 1000);
}

/// Visits the tables of a choice with wide and with narrow groups.
template <class F>
void for_each_grouping(const ResolvedTask& resolved, const Choice& choice, F visit) {
  for (const double nodes : {1.0, 8.0, 30.0, 120.0}) {
    Bounded bounded(resolved, choice);
    bounded.lattice.group_beyond(nodes);
    const bool built = bounded.lattice.build();
    if (bounded.lattice.too_large()) continue;
    ASSERT_TRUE(built);  // a choice with a mapping
    if (bounded.lattice.grouped()) visit(bounded.lattice);
  }
}

/// Tables over groups of every choice against its mappings; counts the tables, and those that say all there is.
void compare_groups(const Truth& truth, const ResolvedTask& resolved, int& tables, int& equal) {
  for (const Choice& choice : truth.choices) {
    for_each_grouping(resolved, choice, [&](const Lattice& lattice) {
      const auto check = [&](const Functional& functional, double least) {
        const double bound = lattice.solve(functional, kInfinity).best;
        EXPECT_TRUE(at_most(bound, least)) << bound << " " << least;
        ++tables;
        equal += at_most(least, bound) ? 1 : 0;
      };
      check(lattice.energy(), choice.least([](const Priced& m) { return m.energy; }));
      for (std::size_t i = 0; i < truth.problem.ports.size(); ++i)
        check(lattice.port(truth.problem.ports[i]), choice.least([i](const Priced& m) { return m.load[i]; }));
    });
  }
}

TEST(Lemma, TablesOfGroupsOfTiles) {
  int tables = 0, equal = 0;
  const auto check = [&](const Truth& truth, const ResolvedTask& resolved) {
    compare_groups(truth, resolved, tables, equal);
  };
  for_each_task(300, check, has_temporal_remainders);
  EXPECT_GT(tables, 1000);
  EXPECT_GT(equal, 500);  // they are of use
  tables = equal = 0;
  for_each_task(60, check, has_temporal_remainders, task_of_long_dims);
  EXPECT_GT(tables, 500);
  EXPECT_GT(equal, 100);
}

/// One transfer at a time, what is served or what is delivered.
int compare_words_of_groups(const Truth& truth, const ResolvedTask& resolved, const Choice& choice,
                            const Lattice& lattice) {
  const std::size_t count = lattice.energy().weights.size();
  std::size_t i = 0;
  int compared = 0;
  for (int x = 0; x < truth.problem.tensors; ++x) {
    int child = truth.problem.levels;
    for (const int l : resolved.memories) {
      if (!(choice.keeps[static_cast<std::size_t>(l)] >> x & 1U)) continue;
      const std::array<int, 3> key{x, l, child};
      for (const bool served : {true, false}) {
        if (child == truth.problem.levels) continue;
        Functional words;
        words.weights.resize(count);
        (served ? words.weights[i].served : words.weights[i].delivered) = 1;
        const double bound = lattice.solve(words, kInfinity).best;
        const double least =
            choice.least([&](const Priced& m) { return served ? m.words.at(key).served : m.words.at(key).delivered; });
        EXPECT_TRUE(at_most(bound, least))
            << "tensor " << x << " from " << l << " to " << child << ": " << bound << " " << least;
        ++compared;
      }
      child = l;
      ++i;
    }
  }
  return compared;
}

TEST(Lemma, WordsOfGroupsOfTiles) {
  int compared = 0;
  const auto check = [&](const Truth& truth, const ResolvedTask& resolved) {
    for (const Choice& choice : truth.choices)
      for_each_grouping(resolved, choice, [&](const Lattice& lattice) {
        compared += compare_words_of_groups(truth, resolved, choice, lattice);
      });
  };
  for_each_task(200, check, has_temporal_remainders);
  for_each_task(40, check, has_temporal_remainders, task_of_long_dims);
  EXPECT_GT(compared, 2000);
}

// Three on two rows of two units leave one unit idle, whatever the tile of the other dim.
TEST(Lemma, UnitsThatMayBeIdleUnderGroups) {
  Task task = task_of(R"(
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 1, write_pj: 1}
  - {fanout: PEs, rows: 2, cols: 2}
  - {memory: Reg, capacity: 20 words, read_pj: 0, write_pj: 1}
  - {compute: MAC, mac_pj: 0}
flexibility:
  parallel: {PEs: {rows: [M], cols: [M]}}
)",
                      outer_product("M: 3, B: 40", "B"));
  task.factorization = Factorization::kRuby;
  const Truth truth(task);
  ASSERT_TRUE(truth.complete);
  const ResolvedTask resolved(truth.task, truth.problem);
  int compared = 0;
  for (const Choice& choice : truth.choices)
    for_each_grouping(resolved, choice, [&](const Lattice& lattice) {
      compared += compare_words_of_groups(truth, resolved, choice, lattice);
    });
  EXPECT_GT(compared, 0);
}

// What the search says of a choice from tables over groups, and the mappings that it rounds off their paths.
TEST(Lemma, BoundOfAChoiceByGroups) {
  int grouped = 0, close = 0, found_one = 0;
  const auto check = [&](const Truth& truth, const ResolvedTask& resolved) {
    for (const Choice& choice : truth.choices) {
      const double least = choice.least([](const Priced& m) { return m.value; });
      for (const double nodes : {1.0, 20.0, 120.0}) {
        for (const double worse : {0.9, 1.0, 1.002, 1.03, 1.06, kInfinity}) {
          Bounded bounded(resolved, choice);
          bounded.lattice.group_beyond(nodes);
          Incumbent found{std::nullopt, {}, worse * least};
          const double bound = bound_choice(bounded.lattice, found, bounded.limits);
          EXPECT_TRUE(at_most(bound, least)) << bound << " " << least << " " << worse << " " << nodes;
          EXPECT_TRUE(at_most(least, found.value) || worse < 1) << found.value << " " << least;
          if (!bounded.lattice.grouped()) continue;
          ++grouped;
          close += bound > 0.99 * least ? 1 : 0;
          found_one += found.mapping ? 1 : 0;
        }
      }
    }
  };
  const auto rounds_everywhere = [](const Task& task) { return task.factorization == Factorization::kRuby; };
  for_each_task(150, check, rounds_everywhere);
  for_each_task(40, check, rounds_everywhere, task_of_long_dims);
  const Truth truth(task_of_tiles_and_steps("150"));
  ASSERT_TRUE(truth.complete);
  check(truth, ResolvedTask(truth.task, truth.problem));
  EXPECT_GT(grouped, 1000);
  EXPECT_GT(close, 300);
  EXPECT_GT(found_one, 50);
}

/// Both dims of a window over units, under loops that leave short tiles, and a memory inside them that it passes by.
Task task_of_windows_on_units(std::uint64_t seed) {
  tests::Draw draw(seed);
  const auto between = [&](int least, int most) { return std::to_string(draw.from(least, most)); };
  Task task = task_of(R"(
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 9, write_pj: 9}
  - {fanout: PEs, rows: 2, cols: 2}
  - {memory: Buf, capacity: unbounded, keeps: [weights, outputs], read_pj: 1, write_pj: 1}
  - {memory: Reg, capacity: 6 words, keeps: [inputs], read_pj: 1, write_pj: 1}
  - {compute: MAC, mac_pj: 0}
flexibility:
  parallel: {PEs: {rows: [P], cols: [R]}}
)",
                      "  dims: {P: " + between(2, 5) + ", R: " + between(2, 4) + R"(}
  tensors:
    - {name: W, role: weights, projection: [R]}
    - {name: X, role: inputs, projection: [P + R]}
    - {name: O, role: outputs, projection: [P]}
)");
  task.factorization = draw.chance(0.5) ? Factorization::kRuby : Factorization::kRubyS;
  return task;
}

TEST(Lemma, ShortWindowsThatUnitsShare) {
  int equal = 0, tasks = 0;
  for_each_task(
      30,
      [&](const Truth& truth, const ResolvedTask& resolved) {
        compare_words(truth, resolved, equal);
        ++tasks;
      },
      [](const Task&) { return true; }, task_of_windows_on_units);
  EXPECT_EQ(tasks, 30);
}

/// Tables without slow mappings against those that are faster; counts where they say more than with all.
int compare_faster(const Choice& choice, Lattice& lattice) {
  std::set<double, std::greater<>> all_steps{kInfinity};
  for (const Priced& mapping : choice.mappings) all_steps.insert({mapping.steps, 1.001 * mapping.steps});
  const Functional energy = lattice.energy();
  const double of_all = lattice.solve(energy, kInfinity).best;
  int more = 0;
  for (const double steps : all_steps) {
    lattice.leave_out_from(steps);
    const double bound = lattice.solve(energy, kInfinity).best;
    const double least = choice.least([&](const Priced& m) { return m.steps < steps ? m.energy : kInfinity; });
    EXPECT_TRUE(at_most(bound, least)) << bound << " " << least << " below " << steps;
    more += least < kInfinity && !at_most(bound, of_all) ? 1 : 0;
  }
  return more;
}

TEST(Lemma, TablesWithoutSlowMappings) {
  int more = 0, more_of_groups = 0;
  const auto check = [&](const Truth& truth, const ResolvedTask& resolved) {
    for (const Choice& choice : truth.choices) {
      Bounded bounded(resolved, choice);
      ASSERT_TRUE(bounded.lattice.build());
      more += compare_faster(choice, bounded.lattice);
      for_each_grouping(resolved, choice, [&](Lattice& lattice) { more_of_groups += compare_faster(choice, lattice); });
    }
  };
  const auto rounds_everywhere = [](const Task& task) { return task.factorization == Factorization::kRuby; };
  for_each_task(200, check, rounds_everywhere);
  for_each_task(60, check, rounds_everywhere, task_of_long_dims);
  EXPECT_GT(more, 3);
  more = 0;
  for_each_task(10, check, rounds_everywhere, task_of_units_on_units);
  EXPECT_GT(more, 100);
  for (const char* const size : {"150", "141"}) {
    const Truth truth(task_of_tiles_and_steps(size));
    ASSERT_TRUE(truth.complete);
    check(truth, ResolvedTask(truth.task, truth.problem));
  }
  EXPECT_GT(more_of_groups, 0);
}

}  // namespace
}  // namespace pliant::exact
