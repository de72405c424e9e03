// SPDX-License-Identifier: Apache-2.0
// What unrollings of a line of units cost at least that begin with the same factors (docs/dev/proof, L15): against
// all mappings of small tasks, and against unrollings listed one by one.
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "dse/mappers/exact/bounds/factor_floors.h"
#include "dse/mappers/exact/truth_by_choice.h"

namespace pliant::exact {
namespace {

bool has_a_line(const Task& task) {
  const Problem problem(task.layer, task.accelerator);
  const ResolvedTask resolved(task, problem);
  ChoiceBounds bounds(resolved);
  SearchLimits limits({});
  return FactorFloors(resolved, bounds, limits).apply();
}

/// Every factor that any choice has, by dim.
std::vector<std::vector<Count>> factors_of(const Truth& truth, int line) {
  std::vector<std::vector<Count>> all(static_cast<std::size_t>(truth.problem.dims));
  for (std::size_t d = 0; d < all.size(); ++d) {
    for (const Choice& choice : truth.choices)
      all[d].push_back(choice.spatial.factor[static_cast<std::size_t>(line)][d]);
    std::sort(all[d].begin(), all[d].end());
    all[d].erase(std::unique(all[d].begin(), all[d].end()), all[d].end());
  }
  return all;
}

// Whatever dims are chosen: no mapping of an unrolling that begins like this costs less.
TEST(Lemma, UnrollingsThatBeginWithTheSameFactors) {
  int compared = 0, windows = 0;
  double sharpest = 0;
  for_each_task(
      400,
      [&](const Truth& truth, const ResolvedTask& resolved) {
        const Problem& p = truth.problem;
        const int line = std::countr_zero(p.fanouts);
        ChoiceBounds bounds(resolved);
        SearchLimits limits({});
        FactorFloors floors(resolved, bounds, limits);
        const Count units = resolved.rules.fanout(line).units();
        const std::vector<std::vector<Count>> factors = factors_of(truth, line);
        std::vector<int> order(static_cast<std::size_t>(p.dims));
        std::iota(order.begin(), order.end(), 0);
        for (const bool backwards : {false, true}) {
          if (backwards) std::reverse(order.begin(), order.end());
          floors.begin(std::countr_zero(truth.problem.fanouts), order, factors, units);
          for (const Choice& choice : truth.choices) {
            const double value = choice.least([](const Priced& m) { return m.value; });
            FloorOfFactors::Place place{};
            double steps = 1, used = 1;
            for (int chosen = 0; chosen <= p.dims; ++chosen) {
              double to_come = 1;
              for (int e = chosen; e < p.dims; ++e)
                to_come *= p.size[static_cast<std::size_t>(order[static_cast<std::size_t>(e)])];
              const double certain = steps * std::max(1.0, to_come / std::floor(static_cast<double>(units) / used));
              const double least = floors.least(place, chosen, certain);
              EXPECT_TRUE(at_most(least, value)) << chosen << ": " << least << " " << value;
              sharpest = std::max(sharpest, chosen < p.dims && value > 0 ? least / value : 0);
              ++compared;
              if (chosen == p.dims) break;
              const int d = order[static_cast<std::size_t>(chosen)];
              const auto at = static_cast<std::size_t>(d);
              const Count factor = choice.spatial.factor[static_cast<std::size_t>(line)][at];
              const auto i = std::ranges::lower_bound(factors[at], factor) - factors[at].begin();
              place = floors.after(place, d, static_cast<std::size_t>(i));
              steps *= static_cast<double>(ceil_div(truth.task.layer.dims[at].size, factor));
              used *= static_cast<double>(factor);
              windows += p.windowed[at] != 0 && factor > 1 ? 1 : 0;
            }
          }
        }
      },
      has_a_line);
  EXPECT_GT(compared, 5000);
  EXPECT_GT(windows, 100);
  EXPECT_GT(sharpest, 0.9);  // before all factors are chosen
}

// The least energy of a tensor is the same for all unrollings that agree along the dims that decide it.
TEST(Lemma, SomeDimsDecideTheLeastEnergyOfATensor) {
  int agreed = 0, decided = 0;
  for_each_task(
      400,
      [&](const Truth& truth, const ResolvedTask& resolved) {
        const int line = std::countr_zero(truth.problem.fanouts);
        ChoiceBounds bounds(resolved);
        for (int x = 0; x < truth.problem.tensors; ++x) {
          const DimSet deciding = FactorFloors::deciding(truth.problem, x);
          std::map<std::vector<Count>, std::pair<double, const Choice*>> known;
          for (const Choice& choice : truth.choices) {
            std::vector<Count> key;
            for (int d = 0; d < truth.problem.dims; ++d)
              if (deciding >> d & 1U)
                key.push_back(choice.spatial.factor[static_cast<std::size_t>(line)][static_cast<std::size_t>(d)]);
            const double energy = bounds.least_energy_of(x, choice.spatial);
            const auto [at, fresh] = known.try_emplace(key, energy, &choice);
            if (fresh) continue;
            EXPECT_NEAR(energy, at->second.first, kSame * std::max(1.0, energy)) << "tensor " << x;
            agreed += choice.spatial.factor != at->second.second->spatial.factor ? 1 : 0;
          }
          decided += known.size() > 1 ? 1 : 0;
        }
      },
      has_a_line);
  EXPECT_GT(agreed, 1000);
  EXPECT_GT(decided, 300);
}

/// A convolution on a long line, with more unrollings than are listed without a look at what they cost.
Task long_line(Factorization factorization, const char* conventions) {
  Task task = task_of(
      "word_bits: 8\nconventions: {preset: physical, " + std::string(conventions) +
          "}\nlevels:\n"
          "  - {memory: DRAM, capacity: unbounded, read_pj: 40, write_pj: 40}\n"
          "  - {memory: SRAM, capacity: 4 KiB, read_pj: 4, write_pj: 4, may_bypass: [inputs, weights, outputs]}\n"
          "  - {fanout: PEs, cols: 1024}\n"
          "  - {memory: Reg, capacity: 16 B, read_pj: 0.1, write_pj: 0.1, may_bypass: [inputs, weights, outputs]}\n"
          "  - {compute: MAC, mac_pj: 0.1}\n",
      "  dims: {M: 14, C: 20, P: 16, Q: 13, R: 3, S: 3}\n  tensors:\n"
      "    - {name: I, role: inputs, projection: [C, P + R, Q + S]}\n"
      "    - {name: W, role: weights, projection: [M, C, R, S]}\n"
      "    - {name: O, role: outputs, projection: [M, P, Q]}\n");
  task.factorization = factorization;
  return task;
}

bool same(const SpatialChoices& a, std::size_t i, const SpatialChoices& b, std::size_t j) {
  Spatial here, there;
  a.get(i, here);
  b.get(j, there);
  for (int l = 0; l < kMaxLevels; ++l)
    if (here.unrolling[l] != nullptr && *here.unrolling[l] != *there.unrolling[l]) return false;
  return true;
}

SpatialChoices list(const Task& task, const Problem& problem, std::size_t memory, SpatialChoices::LeftOut left_out) {
  SearchOptions options;
  options.budget.memory_bytes = memory;
  SearchLimits limits(options);
  return SpatialChoices(task, problem, limits, left_out);
}

// Of many unrollings those are listed that could cost less; what is not listed costs what is said of it.
TEST(Unrollings, WhatIsLeftOutIsDear) {
  constexpr std::size_t kPlenty = std::size_t{1} << 32;
  int unlisted = 0, left_out = 0;
  for (const Factorization factorization : {Factorization::kRubyS, Factorization::kRuby})
    for (const char* conventions : {"footprint: distinct", "equal-windows: separate"}) {
      const Task task = long_line(factorization, conventions);
      const Problem problem(task.layer, task.accelerator);
      const ResolvedTask resolved(task, problem);
      ChoiceBounds bounds(resolved);
      SearchLimits limits({});
      FactorFloors floors(resolved, bounds, limits);
      ASSERT_TRUE(floors.apply());
      const SpatialChoices all = list(task, problem, kPlenty, {});
      ASSERT_GT(all.size(), 50'000u);
      std::vector<double> least(all.size());
      Spatial spatial;
      for (std::size_t i = 0; i < all.size(); ++i) {
        all.get(i, spatial);
        least[i] = bounds.look_at(spatial).least;
      }
      std::vector<double> sorted = least;
      std::sort(sorted.begin(), sorted.end());
      for (const std::size_t better : {std::size_t{0}, std::size_t{1}, std::size_t{300}, std::size_t{20'000}})
        for (const std::size_t memory : {kPlenty, std::size_t{2'000'000}}) {
          const double enough = sorted[better];
          const SpatialChoices some = list(task, problem, memory, {.floors = &floors, .enough = enough});
          EXPECT_GE(some.dear(), enough);
          EXPECT_LT(some.size(), all.size() / 2);
          EXPECT_TRUE(some.complete() || memory < kPlenty);
          std::size_t j = 0;
          for (std::size_t i = 0; i < all.size(); ++i) {
            if (j < some.size() && same(all, i, some, j)) {
              ++j;
              continue;
            }
            const double certain = std::min(some.dear(), some.unlisted_floor());
            EXPECT_TRUE(at_most(certain, least[i])) << certain << " " << least[i];
            ++left_out;
            if (least[i] < enough * (1 - kSame)) {
              ++unlisted;
              EXPECT_FALSE(some.complete());
            }
          }
          EXPECT_EQ(j, some.size());  // in the same order
        }
    }
  EXPECT_GT(left_out, 100'000);
  EXPECT_GT(unlisted, 10'000);
}

}  // namespace
}  // namespace pliant::exact
