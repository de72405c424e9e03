// SPDX-License-Identifier: Apache-2.0
// Every lower bound of the exact mapper against the truth of its part (docs/dev/proof). For random small tasks all
// legal mappings are enumerated and grouped by their choice: spatial factors and kept tensors. A bound on a part must
// not exceed that part of any mapping of the choice, and equals the least of them where the lemma says so.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "dse/mappers/exact/bounds/bound.h"
#include "dse/mappers/exact/bounds/unrolling_bounds.h"
#include "dse/mappers/exact/chain/durations.h"
#include "dse/mappers/exact/search/search.h"
#include "dse/mappers/exact/words_of_transfers.h"
#include "support/draw.h"
#include "support/random_cases.h"

namespace pliant::exact {
namespace {

/// Calls visit(functional, load of a mapping) for every port, systolic arrays among them.
template <class F>
void for_each_port(const Problem& p, const Lattice& lattice, F visit) {
  for (std::size_t i = 0; i < p.ports.size(); ++i)
    visit(lattice.port(p.ports[i]), [i](const Priced& mapping) { return mapping.load[i]; });
}

TEST(Lemma, StepsOfAnUnrolling) {
  for_each_task(300, [](const Truth& truth, const ResolvedTask& resolved) {
    for (const Choice& choice : truth.choices) {
      const double bound = least_steps(truth.task, truth.problem, choice.spatial);
      const double least = choice.least([](const Priced& m) { return m.steps; });
      EXPECT_TRUE(at_most(bound, least)) << bound << " " << least;
      if (resolved.perfect) {
        EXPECT_NEAR(bound, least, kSame * least);  // the spatial factors decide
      }
    }
  });
}

TEST(Lemma, FloorOfAnUnrolling) {
  for_each_task(300, [](const Truth& truth, const ResolvedTask& resolved) {
    const ChoiceBounds bounds(resolved);
    for (const Choice& choice : truth.choices) {
      const double bound = bounds.floor(least_steps(truth.task, truth.problem, choice.spatial));
      EXPECT_TRUE(at_most(bound, choice.least([](const Priced& m) { return m.value; })));
    }
  });
}

TEST(Lemma, LeastOfAnUnrollingAndSharedCapacityOfAChoice) {
  int visited = 0;
  for_each_task(300, [&](const Truth& truth, const ResolvedTask& resolved) {
    ChoiceBounds bounds(resolved);
    for (const Choice& choice : truth.choices) {
      const double value = choice.least([](const Priced& m) { return m.value; });
      for (const double ends_at : {0.0, value / 2, kInfinity}) {  // after the first tensor, anywhere, never
        const double least = bounds.look_at(choice.spatial, ends_at).least;
        EXPECT_TRUE(at_most(least, value)) << least << " " << value;
      }
      const auto looked = bounds.look_at(choice.spatial).bounds;
      if (looked == nullptr) {
        EXPECT_EQ(value, kInfinity);
        continue;
      }
      bool found = false;
      for (const double limit : {value / 2, value}) {
        looked->keeps_below(limit, [&](std::size_t keeps, const SharedBound& bound) {
          EXPECT_TRUE(bounds.keeps(keeps) != choice.keeps || at_most(bound.value, value))
              << bound.value << " " << value;
        });
      }
      const double limit = kInfinity;
      looked->keeps_below(limit, [&](std::size_t keeps, const SharedBound& bound) {
        if (bounds.keeps(keeps) != choice.keeps) return;
        found = true;
        ++visited;
        EXPECT_TRUE(at_most(bound.value, value)) << bound.value << " " << value;
        EXPECT_TRUE(at_most(bound.cycles, choice.least([](const Priced& m) { return m.cycles; })));
      });
      EXPECT_TRUE(found || value == kInfinity);  // a choice with a mapping fits its memories
    }
  });
  EXPECT_GT(visited, 300);
}

// Costs are remembered by the units of an unrolling: what was seen of others says the same as looking afresh.
int compare_seen(const Truth& truth, const ResolvedTask& resolved) {
  ChoiceBounds reused(resolved);
  for (const Choice& choice : truth.choices) {
    ChoiceBounds fresh(resolved);
    const auto [least, bounds] = fresh.look_at(choice.spatial);
    reused.look_at(choice.spatial, least / 2);  // what is seen of energy alone is completed later
    const auto [again, reused_bounds] = reused.look_at(choice.spatial);
    EXPECT_TRUE(again == least || std::abs(again - least) <= kSame * std::abs(least)) << again << " " << least;
    EXPECT_EQ(bounds == nullptr, reused_bounds == nullptr);
    if (bounds == nullptr || reused_bounds == nullptr) continue;
    const std::vector<double> expected = bounds->costs(), found = reused_bounds->costs();
    EXPECT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], kSame * std::max(1.0, std::abs(expected[i]))) << i;
  }
  return static_cast<int>(truth.choices.size());
}

TEST(Lemma, UnrollingsOfTheSameUnitsCostATensorWithoutWindowsTheSame) {
  int compared = 0;
  for_each_task(
      300, [&](const Truth& truth, const ResolvedTask& resolved) { compared += compare_seen(truth, resolved); },
      [](const Task& task) { return task.factorization == Factorization::kPerfect; });
  EXPECT_GT(compared, 1000);
}

// With one iteration of Q the index Q + S has no windows, but outputs are summed along S: spread over S they finish
// nowhere, spread over B everywhere, on as many units.
TEST(Lemma, OutputsThatFinishAtSomeUnitsAreNotRememberedByUnits) {
  const Truth truth(task_of(R"(
bits: {inputs: 16, partial_sums: 32}
levels:
  - {memory: DRAM, capacity: unbounded, word_bits: 16, read_pj: 1, write_pj: 1}
  - {fanout: PEs, cols: 3}
  - {memory: Reg, capacity: unbounded, word_bits: 16, read_pj: 1, write_pj: 1, write_bandwidth: 0.5}
  - {compute: MAC, mac_pj: 0}
)",
                            R"(  dims: {B: 3, Q: 1, S: 3}
  tensors:
    - {name: W, role: weights, projection: []}
    - {name: O, role: outputs, projection: [B, Q + S]}
)"));
  ASSERT_TRUE(truth.complete);
  EXPECT_EQ(compare_seen(truth, ResolvedTask(truth.task, truth.problem)), 3);  // no units, and either dim spread
}

/// A choice, and under Ruby-S the same with every combination of durations that its mappings have.
std::vector<Choice> with_durations(const Choice& choice, const Task& task) {
  std::vector<Choice> all{choice};
  if (task.factorization != Factorization::kRubyS) return all;
  std::map<Durations, Choice> by_durations;
  for (const Priced& mapping : choice.mappings) {
    Choice& one = by_durations.try_emplace(mapping.durations, Choice{choice.spatial, choice.keeps, {}}).first->second;
    one.spatial.durations = mapping.durations;
    one.mappings.push_back(mapping);
  }
  for (auto& [durations, one] : by_durations) all.push_back(std::move(one));
  return all;
}

TEST(Lemma, SharedCapacityOfEnergyOfPortsAndOfBoth) {
  int ports = 0, more = 0;
  for_each_task(400, [&](const Truth& truth, const ResolvedTask& resolved) {
    ChoiceBounds bounds(resolved);
    for (const Choice& listed : truth.choices) {
      for (const Choice& choice : with_durations(listed, truth.task)) {
        const auto looked = bounds.look_at(choice.spatial).bounds;
        ASSERT_NE(looked, nullptr);
        std::size_t keeps = 0;
        while (bounds.keeps(keeps) != choice.keeps) ++keeps;
        const double energy = looked->shared(keeps, {1, 0, 0});
        EXPECT_TRUE(at_most(energy, choice.least([](const Priced& m) { return m.energy; }))) << energy;
        Bounded bounded(resolved, choice);
        more += energy > bounded.lattice.least(bounded.lattice.energy()) * (1 + kSame) ? 1 : 0;
        for (std::size_t i = 0; i < truth.problem.ports.size(); ++i) {
          ++ports;
          const double load = looked->shared(keeps, {0, i + 1, 1});
          EXPECT_TRUE(at_most(load, choice.least([i](const Priced& m) { return m.load[i]; }))) << load;
          for (const double slope : {0.1, 1.0, 30.0}) {
            const double sum = looked->shared(keeps, {1, i + 1, slope});
            const double least = choice.least([&](const Priced& m) { return m.energy + slope * m.load[i]; });
            EXPECT_TRUE(at_most(sum, least)) << sum << " " << least;
          }
        }
        const SharedBound least = looked->least_shared(kInfinity);
        for (const Priced& mapping : choice.mappings)
          EXPECT_TRUE(at_most(bounds.with_steps(least, mapping.steps), mapping.value));
      }
    }
  });
  EXPECT_GT(ports, 1000);
  EXPECT_GT(more, 100);
}

// 30 on 2 units leave 3 rounds in tiles of 5 and of 6: the list of tiles has 5 only, and with 6 there are fewer pairs
// of units and rounds.
TEST(Lemma, ATileStandsForAllThatLeaveTheSameRounds) {
  Task task = task_of(R"(
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 0, write_pj: 0}
  - {fanout: PEs, cols: 2}
  - {memory: Reg, capacity: 13 words, read_pj: 0, write_pj: 1}
  - {compute: MAC, mac_pj: 0}
flexibility:
  parallel: {PEs: {rows: [], cols: [M]}}
)",
                      outer_product("M: 30, B: 7", "B"));
  task.factorization = Factorization::kRubyS;
  const Truth truth(task);
  ASSERT_TRUE(truth.complete);
  const ResolvedTask resolved(truth.task, truth.problem);
  ChoiceBounds bounds(resolved);
  bool spread = false;
  for (const Choice& choice : truth.choices) {
    const auto looked = bounds.look_at(choice.spatial).bounds;
    ASSERT_NE(looked, nullptr);
    std::size_t keeps = 0;
    while (bounds.keeps(keeps) != choice.keeps) ++keeps;
    const double bound = looked->shared(keeps, {1, 0, 0});
    const double least = choice.least([](const Priced& m) { return m.energy; });
    EXPECT_TRUE(at_most(bound, least)) << bound << " " << least;
    spread |= choice.spatial.factor[1][0] == 2;
  }
  EXPECT_TRUE(spread);
}

TEST(Lemma, EachTransferMovedOnce) {
  for_each_task(300, [](const Truth& truth, const ResolvedTask& resolved) {
    for (const Choice& choice : truth.choices) {
      Bounded bounded(resolved, choice);
      const double energy = bounded.lattice.least(bounded.lattice.energy());
      EXPECT_TRUE(at_most(energy, choice.least([](const Priced& m) { return m.energy; })));
      for_each_port(truth.problem, bounded.lattice, [&](const Functional& port, auto load_of) {
        const double load = bounded.lattice.least(port), least = choice.least(load_of);
        EXPECT_TRUE(at_most(load, least)) << load << " " << least;
      });
    }
  });
}

/// Tables of every choice against its mappings; counts those that are equal, where the lemma says so.
void compare_tables(const Truth& truth, const ResolvedTask& resolved, int& equal) {
  // The lemma says equal: perfect factors, and no tensor with windows.
  bool exact = resolved.perfect && !resolved.compute_runs;
  for (int x = 0; x < truth.problem.tensors; ++x) exact &= truth.problem.affine[static_cast<std::size_t>(x)].empty();
  for (const Choice& choice : truth.choices) {
    Bounded bounded(resolved, choice);
    ASSERT_TRUE(bounded.lattice.build());
    const auto check = [&](const Functional& functional, double least, bool is_equal) {
      const double bound = bounded.lattice.solve(functional, kInfinity).best;
      EXPECT_TRUE(at_most(bound, least)) << bound << " " << least;
      if (!is_equal) return;
      ++equal;
      EXPECT_NEAR(bound, least, kSame * std::max(1.0, std::abs(least)));
    };
    check(bounded.lattice.energy(), choice.least([](const Priced& m) { return m.energy; }), exact);
    std::size_t i = 0;
    for_each_port(truth.problem, bounded.lattice, [&](const Functional& port, auto load_of) {
      check(port, choice.least(load_of), exact && truth.problem.ports[i++].stationary < 0);
    });
  }
}

TEST(Lemma, TablesOfEnergyAndOfEveryPort) {
  int equal = 0;
  for_each_task(300, [&](const Truth& truth, const ResolvedTask& resolved) { compare_tables(truth, resolved, equal); });
  EXPECT_GT(equal, 100);
}

// Tasks whose certificates were wrong once: of those that can be enumerated, the tables themselves.
TEST(Lemma, TablesOfTasksOnceWrong) {
  int equal = 0, compared = 0;
  for (const std::uint64_t seed : {7415U, 35691U, 50307600U, 90115920U, 91001636U, 91047372U, 120029007U}) {
    const Truth truth(tests::campaign_task(seed));
    if (!truth.complete) continue;
    SCOPED_TRACE(seed);
    ++compared;
    compare_tables(truth, ResolvedTask(truth.task, truth.problem), equal);
  }
  EXPECT_GE(compared, 5);
}

TEST(Lemma, WordsOfOneTransfer) {
  int equal = 0;
  for_each_task(300, [&](const Truth& truth, const ResolvedTask& resolved) { compare_words(truth, resolved, equal); });
  EXPECT_GT(equal, 100);
}

// Dilated and strided windows side by side under two fanouts: equal windows, windows in each other's holes.
TEST(Lemma, WordsOfWindowsWithHoles) {
  int equal = 0;
  const tests::CaseOptions options{.factorizations = {Factorization::kPerfect, Factorization::kRubyS},
                                   .most_mappings = Truth::kMostMappings,
                                   .infeasible_share = 0,
                                   .holes = true};
  for_each_task(
      150, [&](const Truth& truth, const ResolvedTask& resolved) { compare_words(truth, resolved, equal); },
      [](const Task&) { return true; }, [&](std::uint64_t seed) { return tests::random_case(seed, options).task; });
}

// A table that is cut off just above the least energy of a choice still bounds it: no mapping below the limit is lost.
TEST(Lemma, TablesCutOffAtALimit) {
  int finite = 0;
  for_each_task(300, [&](const Truth& truth, const ResolvedTask& resolved) {
    for (const Choice& choice : truth.choices) {
      Bounded bounded(resolved, choice);
      ASSERT_TRUE(bounded.lattice.build());
      const auto check = [&](const Functional& functional, double least) {
        const double limit = least + 1e-6 * std::max(1.0, std::abs(least));
        const double bound = bounded.lattice.solve(functional, limit).best;
        finite += bound < kInfinity ? 1 : 0;
        EXPECT_TRUE(at_most(bound, least)) << bound << " " << least;
      };
      check(bounded.lattice.energy(), choice.least([](const Priced& m) { return m.energy; }));
      for_each_port(truth.problem, bounded.lattice,
                    [&](const Functional& port, auto load_of) { check(port, choice.least(load_of)); });
    }
  });
  EXPECT_GT(finite, 300);
}

// What tables or a search say of a choice holds for all its mappings, wherever they were cut off: at an incumbent that
// is better or worse than the choice, with a gap or without.
TEST(Lemma, BoundOfAChoiceThatWasCutOff) {
  int above = 0;
  tests::Draw draw(5);
  for_each_task(400, [&](const Truth& truth, const ResolvedTask& resolved) {
    for (const Choice& choice : truth.choices) {
      const double least = choice.least([](const Priced& m) { return m.value; });
      SearchOptions options;
      options.gap = draw.chance(0.3) ? 0 : 0.1 * static_cast<double>(draw.from(1, 8));
      const double incumbent = least * 0.25 * static_cast<double>(draw.from(1, 12));
      for (const bool search : {false, true}) {
        Bounded bounded(resolved, choice, options);
        Incumbent found{std::nullopt, {}, incumbent};
        const double bound = search ? close_choice(bounded.lattice, found, bounded.limits)
                                    : bound_choice(bounded.lattice, found, bounded.limits);
        EXPECT_TRUE(at_most(bound, least)) << bound << " " << least << ", incumbent " << incumbent;
        above += incumbent < least && bound >= incumbent * (1 - options.gap) * (1 - kSame) ? 1 : 0;
        if (search && least < incumbent * (1 - options.gap) * (1 - kSame)) {
          EXPECT_LT(found.value, incumbent);  // what is below the limit is not lost
        }
      }
    }
  });
  EXPECT_GT(above, 300);
}

// With remainders not every unrolling is listed.
TEST(Lemma, ChoicesThatAreNotListed) {
  int left_out = 0;
  const auto check = [&](const Truth& truth, const ResolvedTask&) { left_out += expect_others_do_as_well(truth); };
  const tests::CaseOptions options{
      .factorizations = {Factorization::kRubyS, Factorization::kRubyT, Factorization::kRuby},
      .most_mappings = Truth::kMostMappings,
      .infeasible_share = 0,
      .spread = true};
  for_each_task(
      1200, check, [](const Task&) { return true; },
      [&](std::uint64_t seed) { return tests::random_case(seed, options).task; });
  for_each_task(400, check, [](const Task& task) { return task.factorization != Factorization::kPerfect; });
  EXPECT_GT(left_out, 100);
}

// Ruby-S: the iterations in time of every mapping are among the durations of its unrolling.
TEST(Lemma, DurationsOfAnUnrolling) {
  int choices = 0;
  for_each_task(
      80,
      [&](const Truth& truth, const ResolvedTask& resolved) {
        DurationChoices durations(resolved);
        for (const Choice& choice : truth.choices) {
          std::vector<double> steps;
          durations.of(
              choice.spatial, [](double) { return true; },
              [&](const Durations& chosen) {
                double product = truth.problem.cycles_per_mac;
                for (int d = 0; d < truth.problem.dims; ++d)
                  product *= static_cast<double>(chosen[static_cast<std::size_t>(d)]);
                steps.push_back(product);
              });
          for (const Priced& mapping : choice.mappings) {
            bool found = false;
            for (const double s : steps) found |= std::abs(s - mapping.steps) <= kSame * s;
            EXPECT_TRUE(found) << mapping.steps;
          }
          ++choices;
        }
      },
      [](const Task& task) { return task.factorization == Factorization::kRubyS; });
  EXPECT_GT(choices, 100);
}

// The least objective over the region that linear bounds leave, against random points of the region.
TEST(Lemma, RegionOfEnergyAndCycles) {
  tests::Draw draw(7);
  for (int n = 0; n < 20'000 && !testing::Test::HasFailure(); ++n) {
    Task task;
    task.layer = make_gemm("gemm", {.M = 4});
    task.accelerator.levels = {{"M", Memory{}}, {"MAC", Compute{}}};
    task.accelerator.levels[0].memory().leak_pj_per_cycle =
        draw.chance(0.3) ? static_cast<double>(draw.from(1, 8)) / 4 : 0;
    task.accelerator.levels[1].compute().cycles_per_mac = draw.of(std::vector<double>{1, 1, 2, 0.5, 0.25, 1.5});
    task.objective = static_cast<Objective>(draw.from(0, 5));
    if (draw.chance(0.2)) task.most_cycles = static_cast<double>(draw.from(4, 80)) / 4;
    const Problem problem(task.layer, task.accelerator);
    const double per_mac = problem.cycles_per_mac;
    // A mapping: whole steps, a load of a port, an energy.
    const double steps = per_mac * static_cast<double>(draw.from(1, 12));
    const double load = static_cast<double>(draw.from(1, 160)) / 16,
                 energy = static_cast<double>(draw.from(1, 400)) / 16;
    const double cycles = std::max(steps, std::ceil(load));
    Totals totals;
    totals.steps = steps;
    totals.cycles = cycles;
    totals.energy_pj = energy + problem.leak_pj_per_cycle_total * cycles;
    totals.utilization = problem.busy_cycles / cycles;
    const double value = task_value(task, totals);
    // Bounds that it satisfies.
    const double slack = draw.chance(0.5) ? 1 : static_cast<double>(draw.from(1, 16)) / 16;
    Region region(energy * static_cast<double>(draw.from(1, 16)) / 16, std::max(steps, load) * slack);
    for (Count cuts = draw.from(0, 3); cuts > 0; --cuts) {
      const double slope = static_cast<double>(draw.from(1, 64)) / 8;
      region.cut(slope, (energy + slope * load) * (draw.chance(0.7) ? 1 : 0.75));
    }
    EXPECT_TRUE(at_most(region.least(problem, task, steps), value))
        << to_string(task.objective) << " cycles " << cycles << " load " << load << " energy " << energy;
    EXPECT_TRUE(at_most(whole_cycles(problem, std::max(steps, load)), cycles));
  }
}

}  // namespace
}  // namespace pliant::exact
