// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/choices/network_unrollings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/bits.h"
#include "truth_by_choice.h"

namespace pliant::exact {
namespace {

/// Fanouts inside the innermost memory that has any.
int fanouts_of_innermost_gap(const Problem& problem) {
  return problem.fanouts == 0
             ? 0
             : std::popcount(problem.network[static_cast<std::size_t>(std::bit_width(problem.fanouts)) - 1]);
}

// Of unrollings whose factors have the same products at the innermost network, those that are listed do as well as the
// others: whatever is moved, with windows, bandwidths, networks that differ or take energy, and any factors.
TEST(Lemma, UnrollingsOfANetworkWithEqualProducts) {
  int left_out = 0, networks = 0;
  for_each_task(
      500,
      [&](const Truth& truth, const ResolvedTask&) {
        networks += fanouts_of_innermost_gap(truth.problem) > 1 ? 1 : 0;
        left_out += expect_others_do_as_well(truth);
      },
      [](const Task& task) {
        const Problem problem(task.layer, task.accelerator);
        return fanouts_of_innermost_gap(problem) > 1;
      });
  EXPECT_EQ(networks, 500);
  EXPECT_GT(left_out, 100);
}

Task two_fanouts(const std::string& inner, Factorization factorization) {
  Task task = task_of(
      "word_bits: 8\nlevels:\n"
      "  - {memory: DRAM, capacity: unbounded, read_pj: 8, write_pj: 8}\n"
      "  - {fanout: Outer, rows: 6}\n"
      "  - {fanout: Inner, rows: 6" +
          inner +
          "}\n"
          "  - {compute: MAC, mac_pj: 1}\n",
      "  dims: {M: 12, N: 6}\n  tensors:\n"
      "    - {name: A, role: inputs, projection: [M]}\n"
      "    - {name: B, role: weights, projection: [N]}\n"
      "    - {name: C, role: outputs, projection: [M, N]}\n");
  task.factorization = factorization;
  return task;
}

/// How many unrollings are listed, and how many different products they have.
std::pair<std::size_t, std::size_t> listed(const Task& task) {
  const Problem problem(task.layer, task.accelerator);
  SearchLimits limits{SearchOptions{}};
  const SpatialChoices choices(task, problem, limits);
  std::set<std::pair<double, double>> products;
  Spatial spatial;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    choices.get(i, spatial);
    const auto units = [&](int d) { return spatial_between(spatial, only(d), -1, problem.levels); };
    products.emplace(units(0), units(1));
  }
  return {choices.size(), products.size()};
}

TEST(NetworkUnrollings, OneForEveryProductOfPerfectFactors) {
  const auto [all, products] = listed(two_fanouts("", Factorization::kPerfect));
  EXPECT_EQ(all, products);
}

// With a fanout too many products would be kept, so the network ends before it.
TEST(NetworkUnrollings, EndsWhereProductsAreTooMany) {
  Task task = two_fanouts("", Factorization::kRubyS);
  for (Dim& dim : task.layer.dims) dim.size = 4'096;
  const Problem problem(task.layer, task.accelerator);
  for (const int units : {100, 1'100}) {
    std::vector<ListedFanout> fanouts;
    for (const int level : {2, 1}) {
      std::vector<Unrolling> all(static_cast<std::size_t>(units));
      for (int i = 0; i < units; ++i) {
        Unrolling& one = all[static_cast<std::size_t>(i)];
        one.rows.fill(1);
        one.cols.fill(1);
        one.rows[static_cast<std::size_t>(level - 1)] = i + 1;
      }
      fanouts.push_back({level, std::make_shared<const std::vector<Unrolling>>(std::move(all))});
    }
    SearchLimits limits{SearchOptions{}};
    const NetworkUnrollings network(task, problem, fanouts, false, kInfinity, limits);
    const bool both = units < 1'000;  // 10,000 products, or 1,210,000
    EXPECT_TRUE(network.complete());
    EXPECT_EQ(network.levels(), both ? (std::vector<int>{2, 1}) : std::vector<int>{2});
    EXPECT_EQ(network.size(), static_cast<std::size_t>(both ? units * units : units));
    EXPECT_EQ(network.unrollings(network.size() - 1).size(), both ? 2u : 1u);
  }
}

// Every combination of two fanouts is there by its product, unless it takes too many rounds; none that is left out
// takes fewer than `slow` says.
TEST(NetworkUnrollings, LeavesOutThoseOfTooManyRounds) {
  for (const Factorization factorization : {Factorization::kPerfect, Factorization::kRubyS}) {
    const Task task = two_fanouts("", factorization);
    const bool perfect = factorization == Factorization::kPerfect;
    const Problem problem(task.layer, task.accelerator);
    std::vector<Unrolling> all;
    for (std::int32_t m = 1; m <= 6; ++m)
      for (std::int32_t n = 1; m * n <= 6; ++n) {
        if (perfect && (12 % m != 0 || 6 % n != 0)) continue;
        Unrolling& one = all.emplace_back();
        one.rows.fill(1);
        one.cols.fill(1);
        one.rows[0] = m;
        one.rows[1] = n;
      }
    const auto list = std::make_shared<const std::vector<Unrolling>>(all);
    for (const double most_rounds : {1.0, 2.0, 3.0, 5.0, 12.0, 100.0}) {
      SearchLimits limits{SearchOptions{}};
      const NetworkUnrollings network(task, problem, {{2, list}, {1, list}}, false, most_rounds, limits);
      std::set<std::pair<Count, Count>> expected, found;
      double fewest_left_out = kInfinity;
      for (const Unrolling& inner : all)
        for (const Unrolling& outer : all) {
          const Count m = inner.factor(0) * outer.factor(0), n = inner.factor(1) * outer.factor(1);
          if (perfect && (12 % m != 0 || 6 % n != 0)) continue;
          const auto rounds = static_cast<double>(ceil_div(12, m) * ceil_div(6, n));
          if (rounds <= most_rounds)
            expected.emplace(m, n);
          else
            fewest_left_out = std::min(fewest_left_out, rounds);
        }
      for (std::size_t i = 0; i < network.size(); ++i) found.emplace(network.factors(i)[0], network.factors(i)[1]);
      EXPECT_EQ(found, expected) << most_rounds;
      EXPECT_EQ(found.size(), network.size());
      EXPECT_LE(network.slow(), fewest_left_out);
      EXPECT_GT(network.slow(), most_rounds);
    }
  }
}

TEST(NetworkUnrollings, AllWhereTheNetworkServesOverlapsAsOneOrTakesEnergy) {
  for (const std::string inner : {", partial_multicast: true", ", pj_per_bit: 0.1"}) {
    const auto [all, products] = listed(two_fanouts(inner, Factorization::kPerfect));
    EXPECT_GT(all, products) << inner;
  }
}

}  // namespace
}  // namespace pliant::exact
