// SPDX-License-Identifier: Apache-2.0
// What is proven where nothing is worse holds here: tasks that differ in sizes, compared with enumeration.
#include "dse/design/proven_elsewhere.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "core/arithmetic.h"
#include "core/legality.h"
#include "costmodel/report.h"
#include "flex/mapspace/enumerate.h"
#include "support/design_spaces.h"
#include "support/random_cases.h"

namespace pliant {
namespace {

using enum Factorization;

const tests::CaseOptions kCases{.factorizations = {kPerfect, kPerfect, kRubyS, kPadding},
                                .most_mappings = 3'000,
                                .residents = true,
                                .widths = true,
                                .networks = true,
                                .arrays = true};

/// The same task with a few of its sizes changed, so many of them for the better.
Task resized(Task task, std::mt19937_64& random, double better) {
  const auto changes = [&] { return random() % 8 == 0; };
  const auto improves = [&] { return static_cast<double>(random() % 1000) < better * 1000; };
  const auto more = [&](double& value) {
    if (changes()) value *= improves() ? 1.5 : 0.6;
  };
  const auto less = [&](double& value) {
    if (changes()) value *= improves() ? 0.98 : 1.02;
  };
  const auto width = [&](std::optional<int>& bits) {
    if (bits && changes()) bits = improves() ? std::max(1, *bits - 2) : *bits + 3;
  };
  const auto side = [&](Count& units) {
    if (changes()) units = improves() ? units + 1 : std::max<Count>(1, units - 1);
  };
  for (Level& level : task.accelerator.levels) {
    if (level.is_memory()) {
      Memory& memory = level.memory();
      Count taken = 1;
      for (Count& words : memory.reserved_words) {
        if (words > 0 && changes()) words += improves() ? -1 : 1;
        taken += words;
      }
      if (memory.capacity_words && changes())
        memory.capacity_words = std::max(taken, improves() ? 2 * *memory.capacity_words : *memory.capacity_words / 2);
      for (double* one : {&memory.read_pj, &memory.write_pj, &memory.update_pj, &memory.leak_pj_per_cycle}) less(*one);
      for (auto* one : {&memory.read_words_per_cycle, &memory.write_words_per_cycle, &memory.bus_words_per_cycle})
        if (*one) more(**one);
      for (auto& of_role : memory.bits.of) width(of_role);
    } else if (level.is_fanout()) {
      side(level.fanout().rows);
      side(level.fanout().cols);
      less(level.fanout().pj_per_bit);
    } else {
      less(level.compute().mac_pj);
      less(level.compute().cycles_per_mac);
      less(level.compute().leak_pj_per_cycle);
    }
  }
  if (task.most_cycles < kInfinity) more(task.most_cycles);
  return task;
}

bool same_form(const Task& a, const Task& b) {
  return a.layer == b.layer && a.accelerator == b.accelerator && a.flexibility == b.flexibility &&
         a.factorization == b.factorization && a.objective == b.objective;
}

TEST(SizedTask, WhereNothingIsWorseEveryMappingRunsForNoMore) {
  int compared = 0, pairs = 0, unlike = 0;
  for (std::uint64_t seed = 1; seed <= 600 && !HasFailure(); ++seed) {
    const tests::RandomCase random_case = tests::random_case(seed, kCases);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + random_case.text);
    std::mt19937_64 random(seed);
    for (int k = 0; k < 6; ++k) {
      const Task better = resized(random_case.task, random, 0.5), worse = resized(better, random, 0.1);
      const auto a = sized_task(better), b = sized_task(worse);
      if (!a || !b) continue;
      if (!same_form(a->form, b->form)) {
        ++unlike;  // a systolic array is filled along its sides
        continue;
      }
      if (!no_worse(a->sizes, b->sizes)) continue;
      ++pairs;
      int seen = 0;
      for_each_mapping(worse.layer, worse.accelerator, worse.flexibility, worse.factorization, [&](const Mapping& m) {
        if (++seen > 300) return false;
        if (!check_legality(worse.layer, worse.accelerator, worse.flexibility, worse.factorization, m).empty())
          return true;
        const auto broken =
            check_legality(better.layer, better.accelerator, better.flexibility, better.factorization, m);
        EXPECT_TRUE(broken.empty()) << (broken.empty() ? "" : broken.front().message);
        const Totals there = price(better.layer, better.accelerator, m).totals;
        const Totals here = price(worse.layer, worse.accelerator, m).totals;
        EXPECT_LE(there.energy_pj, here.energy_pj * (1 + 1e-12));
        EXPECT_LE(there.cycles, here.cycles * (1 + 1e-12));
        ++compared;
        return !HasFailure();
      });
    }
  }
  EXPECT_GE(pairs, 60);
  EXPECT_GE(compared, 3'000);
  EXPECT_GE(unlike, 1);
}

TEST(SizedTask, WhatIsNoSizeMakesAnotherForm) {
  const tests::RandomCase random_case = tests::random_case(5, kCases);
  const auto form = sized_task(random_case.task)->form;
  Task buffers = random_case.task, words = random_case.task, kept = random_case.task;
  Memory& memory = buffers.accelerator.levels.front().memory();
  ++memory.buffers;
  words.accelerator.levels.front().memory().word_bits *= 2;
  kept.accelerator.levels.front().memory().may_bypass[0] ^= true;
  for (const Task& other : {buffers, words, kept}) EXPECT_FALSE(same_form(sized_task(other)->form, form));
}

/// Tasks in a row, each answered from those before where it can be: within the gap of what enumeration finds.
TEST(RecallingMapper, AnswersHoldAgainstTheEnumeration) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const tests::ScratchFolder folder("recalling_mapper");
  const tests::RandomSpace space = tests::random_space(library, 3, folder.path(), 10);
  const TaskNamer namer(space.sweep);
  TaskStore store(folder.path() / "cache", true);
  const auto exact = make_mapper("exact"), exhaustive = make_mapper("exhaustive");
  std::int64_t asked = 0, searched = 0, again = 0, infeasible = 0;
  for (std::uint64_t seed = 1; seed <= 120 && !HasFailure(); ++seed) {
    const tests::RandomCase random_case = tests::random_case(seed, kCases);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + random_case.text);
    SearchOptions options;
    options.gap = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 0.02 : 0.1;
    const ProvenSoFar proven_before;
    ProvenElsewhere learnt, learnt_again;
    const RecallingMapper first(*exact, proven_before, learnt, namer, &store);
    const RecallingMapper second(*exact, proven_before, learnt_again, namer, &store);
    std::mt19937_64 random(seed);
    Task task = random_case.task;
    for (int k = 0; k < 5; ++k, task = resized(task, random, 0.1)) {
      const SearchResult truth = exhaustive->search(task, {});
      const SearchResult found = run_mapper(first, task, options), recalled = run_mapper(second, task, options);
      ++asked;
      infeasible += found.infeasible ? 1 : 0;
      EXPECT_EQ(found.value, recalled.value) << "the store changes no answer";
      EXPECT_EQ(found.lower_bound, recalled.lower_bound);
      EXPECT_EQ(found.mapping, recalled.mapping);
      if (!proven(found)) continue;
      EXPECT_EQ(found.mapping.has_value(), truth.mapping.has_value());
      if (!found.mapping || !truth.mapping) continue;
      EXPECT_LE(found.lower_bound, truth.value * (1 + 1e-9));
      EXPECT_GE(found.lower_bound, found.value * (1 - options.gap) * (1 - 1e-9));
      EXPECT_GE(found.value, truth.value * (1 - 1e-9));
      if (found.certified) {
        EXPECT_LE(found.value, truth.value * (1 + 1e-9));
      }
    }
    searched += first.searches();
    again += second.searches();
  }
  EXPECT_LT(searched, asked * 9 / 10) << "of " << asked;
  EXPECT_LT(again, asked / 20) << "only what was not proven is asked again";
  EXPECT_GE(infeasible, 1);
}

/// In whatever pieces it is kept, the newest answers are looked at first, and a reader keeps what it has.
TEST(ProvenSoFar, IsOneListInFewPieces) {
  const Task task = tests::random_case(5, kCases).task;
  const SizedTask sized = *sized_task(task);
  ProvenSoFar proven, early;
  constexpr int kAnswers = 300;
  for (int k = 0; k < kAnswers; ++k) {
    ProvenElsewhere learnt;
    SearchResult result;
    result.lower_bound = k;
    learnt.add(sized, result);
    add(proven, std::move(learnt));
    if (k == 9) early = proven;
  }
  add(proven, {});  // nothing
  EXPECT_LE(proven.size(), 10U);
  const auto bounds = [&](const ProvenSoFar& pieces) {
    std::vector<double> all;
    for (const auto& piece : pieces)
      for (const ProvenElsewhere::Answer& answer : *piece->find(sized.form)) all.push_back(answer.result.lower_bound);
    return all;
  };
  std::vector<double> all(kAnswers), first(10);
  std::iota(all.begin(), all.end(), 0.0);
  std::iota(first.begin(), first.end(), 0.0);
  EXPECT_EQ(bounds(proven), all);
  EXPECT_EQ(bounds(early), first);
}

}  // namespace
}  // namespace pliant
