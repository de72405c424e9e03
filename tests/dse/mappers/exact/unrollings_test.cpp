// SPDX-License-Identifier: Apache-2.0
// Which unrollings are listed, against a list that the auditor makes by itself; and what is certain of those for which
// there is no memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "dse/audit/choices.h"
#include "dse/mappers/exact/bounds/fanout_floors.h"
#include "dse/mappers/exact/truth_by_choice.h"
#include "dse/mappers/mapper.h"

namespace pliant::exact {
namespace {

const std::string kSeven =
    "  dims: {A: 4, B: 6, C: 8, D: 3, E: 4, F: 4, G: 2}\n  tensors:\n"
    "    - {name: X, role: inputs, projection: [A, B, F, G]}\n"
    "    - {name: W, role: weights, projection: [C, D, E, F, G]}\n"
    "    - {name: O, role: outputs, projection: [A, B, C, D, E]}\n";

/// Fanouts and rules as they are written.
Task task_with(const std::string& outer, const std::string& inner, const std::string& rules,
               const std::string& einsum) {
  return task_of(
      "word_bits: 8\nlevels:\n"
      "  - {memory: DRAM, capacity: unbounded, read_pj: 40, write_pj: 40, bandwidth: 4 B/cycle}\n" +
          outer + "  - {memory: SRAM, capacity: 256 B, read_pj: 4, write_pj: 4}\n" + inner +
          "  - {memory: Reg, capacity: 16 B, read_pj: 0.5, write_pj: 0.5}\n"
          "  - {compute: MAC, mac_pj: 0.1}\n" +
          rules,
      einsum);
}

/// All kinds of rules that say which loops stand where.
std::vector<Task> tasks() {
  const std::string pes = "  - {fanout: PEs, rows: 8, cols: 12}\n", few = "  - {fanout: Few, rows: 2, cols: 3}\n";
  return {task_with("", pes, "", kSeven),
          task_with("", pes, "flexibility: {parallel: {PEs: {max_dims_per_side: 2}}}\n", kSeven),
          task_with("", pes, "flexibility: {shape: {PEs: {block: [2, 4]}}}\n", kSeven),
          task_with("", pes, "flexibility: {shape: {PEs: free}}\n", kSeven),
          task_with("", pes,
                    "flexibility: {einsum: {parallel: {PEs: {any_of: [{rows: [A, B, C], cols: [C, F]}, "
                    "{rows: [D, F, G], cols: [A, B, E]}]}}}}\n",
                    kSeven),
          task_with(few, pes, "", kSeven)};
}

audit::Factors factors_of(const Problem& p, const Spatial& spatial) {
  audit::Factors all;
  for (int l = 0; l < p.levels; ++l)
    for (int d = 0; d < p.dims && !p.is_memory[static_cast<std::size_t>(l)]; ++d)
      all.push_back(spatial.factor[static_cast<std::size_t>(l)][static_cast<std::size_t>(d)]);
  return all;
}

SpatialChoices list(const Task& task, const Problem& problem, std::size_t memory,
                    double most_steps = std::numeric_limits<double>::infinity()) {
  SearchOptions options;
  options.budget.memory_bytes = memory;
  SearchLimits limits(options);
  return {task, problem, limits, most_steps};
}

/// By factors: how often they are listed.
std::map<audit::Factors, int> listed(const SpatialChoices& choices, const Problem& problem) {
  std::map<audit::Factors, int> all;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    Spatial spatial;
    choices.get(i, spatial);
    ++all[factors_of(problem, spatial)];
  }
  return all;
}

constexpr std::size_t kPlenty = std::size_t{1} << 30;

TEST(Unrollings, PerfectFactorsAreListedOnceEach) {
  for (const Task& task : tasks()) {
    const Problem problem(task.layer, task.accelerator);
    const audit::SpaceRules rules(task.layer, task.accelerator, task.flexibility, task.factorization);
    const std::optional<audit::Choices> truth = audit::list_choices(task, rules, 1'000'000);
    ASSERT_TRUE(truth.has_value());
    const SpatialChoices choices = list(task, problem, kPlenty);
    EXPECT_TRUE(choices.complete());
    EXPECT_EQ(choices.size(), truth->unrollings.size());
    const std::map<audit::Factors, int> found = listed(choices, problem);
    for (const audit::Factors& factors : truth->unrollings) EXPECT_TRUE(found.contains(factors));
    EXPECT_EQ(found.size(), truth->unrollings.size());
  }
}

// What a dive has found of the fastest is known again in the whole list: both are in the same order.
TEST(Unrollings, FasterOnesAreListedInTheSameOrder) {
  for (const Task& task : tasks()) {
    const Problem problem(task.layer, task.accelerator);
    const SpatialChoices all = list(task, problem, kPlenty);
    double fewest = kInfinity;
    for (std::size_t i = 0; i < all.size(); ++i) fewest = std::min(fewest, all.steps(i));
    const SpatialChoices faster = list(task, problem, kPlenty, 4 * fewest);
    ASSERT_GT(faster.size(), 1u);
    ASSERT_LT(faster.size(), all.size());
    std::size_t j = 0;
    for (std::size_t i = 0; i < all.size() && j < faster.size(); ++i) {
      Spatial here, there;
      all.get(i, here);
      faster.get(j, there);
      const bool same = factors_of(problem, here) == factors_of(problem, there);
      j += same ? 1 : 0;
    }
    EXPECT_EQ(j, faster.size());
  }
}

// Everything that is not listed is as slow as is said of it, and the fastest are listed.
TEST(Unrollings, WhatIsNotListedIsSlow) {
  int unlisted = 0, slow = 0;
  for (Task task : tasks())
    for (const Factorization factorization : {Factorization::kPerfect, Factorization::kRubyS}) {
      task.factorization = factorization;
      const Problem problem(task.layer, task.accelerator);
      const SpatialChoices all = list(task, problem, kPlenty);
      ASSERT_TRUE(all.complete());
      int fanouts = 0;
      for (int l = 0; l < problem.levels; ++l) fanouts += problem.is_memory[static_cast<std::size_t>(l)] ? 0 : 1;
      double fewest = kInfinity;
      for (std::size_t i = 0; i < all.size(); ++i) fewest = std::min(fewest, all.steps(i));
      for (const std::size_t memory : {30'000, 300'000})
        for (const double most : {kInfinity, 4 * fewest}) {
          const SpatialChoices choices = list(task, problem, memory, most);
          std::map<audit::Factors, int> found = listed(choices, problem);
          double fastest = kInfinity;
          for (std::size_t i = 0; i < choices.size(); ++i) {
            fastest = std::min(fastest, choices.steps(i));
            EXPECT_LT(choices.steps(i), choices.slow());
          }
          if (all.size() > 2 * choices.size()) {
            EXPECT_LT(std::min(choices.unlisted(), choices.slow()), kInfinity);
          }
          // With several fanouts the fastest of one may leave nothing to the others.
          if (fanouts == 1) {
            EXPECT_EQ(fastest, fewest);
          }
          for (std::size_t i = 0; i < all.size(); ++i) {
            Spatial spatial;
            all.get(i, spatial);
            if (--found[factors_of(problem, spatial)] >= 0) continue;
            EXPECT_GE(all.steps(i), std::min(choices.slow(), choices.unlisted()) * (1 - kSame));
            (choices.complete() ? slow : unlisted) += 1;
          }
        }
    }
  EXPECT_GT(unlisted, 1000);
  EXPECT_GT(slow, 1000);
}

// Sizes that no rows and columns divide: units stay idle, or a smaller part of the array does as well.
TEST(Unrollings, ArraysThatNoProductFits) {
  int compared = 0;
  for (const char* array : {"rows: 2, cols: 2", "rows: 2, cols: 3", "rows: 3, cols: 4"})
    for (const char* dims : {"A: 3, B: 5, C: 2", "A: 7, B: 3, C: 3", "A: 11, B: 2, C: 5", "A: 6, B: 6, C: 3"})
      for (const char* index : {"[A, C]", "[A + C]", "[2*A + C]"})
        for (const Factorization factorization : {Factorization::kRubyS, Factorization::kRuby}) {
          Task task = task_of(
              "levels:\n  - {memory: DRAM, capacity: unbounded, read_pj: 8, write_pj: 8, bandwidth: 2}\n"
              "  - {fanout: PEs, " +
                  std::string(array) +
                  "}\n  - {memory: Reg, capacity: 6, read_pj: 1, write_pj: 1}\n  - {compute: MAC, mac_pj: 1}\n"
                  "flexibility: {einsum: {orders: {DRAM: [[A, B, C]], Reg: [[B, C, A]]}}}\n",
              "  dims: {" + std::string(dims) + "}\n  tensors:\n    - {name: X, role: inputs, projection: " + index +
                  "}\n    - {name: W, role: weights, projection: [B, C]}\n"
                  "    - {name: O, role: outputs, projection: [A, B]}\n");
          task.factorization = factorization;
          SCOPED_TRACE(std::string(array) + "; " + dims + "; " + index);
          for (const Objective objective : {Objective::kEdp, Objective::kEnergy}) {
            task.objective = objective;
            const SearchResult found = run_mapper(*make_mapper("exact"), task, {});
            const SearchResult truth = run_mapper(*make_mapper("exhaustive"), task, {});
            ASSERT_TRUE(found.certified && truth.certified);
            EXPECT_NEAR(found.value, truth.value, kSame * truth.value);
            ++compared;
          }
        }
  EXPECT_EQ(compared, 144);
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

SpatialChoices list_of(const Task& task, const Problem& problem, std::size_t memory, SpatialChoices::LeftOut left_out) {
  SearchOptions options;
  options.budget.memory_bytes = memory;
  SearchLimits limits(options);
  return SpatialChoices(task, problem, limits, left_out);
}

// Of many unrollings those are listed that could cost less; what is not listed costs what is said of it.
TEST(Unrollings, WhatIsLeftOutIsDear) {
  int unlisted = 0, left_out = 0;
  for (const Factorization factorization : {Factorization::kRubyS, Factorization::kRuby})
    for (const char* conventions : {"footprint: distinct", "equal-windows: separate"}) {
      const Task task = long_line(factorization, conventions);
      const Problem problem(task.layer, task.accelerator);
      const ResolvedTask resolved(task, problem);
      ChoiceBounds bounds(resolved);
      FanoutFloors floors(resolved, bounds);
      const SpatialChoices all = list_of(task, problem, kPlenty, {});
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
          const SpatialChoices some = list_of(task, problem, memory, {.floors = &floors, .enough = enough});
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
