// SPDX-License-Identifier: Apache-2.0
// What every mapper promises: nothing better than the truth, the same answer every time, the budget kept.

#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>
#include <thread>

#include "core/legality.h"
#include "core/load.h"
#include "dse/mappers/mapper.h"
#include "random_cases.h"

namespace pliant {
namespace {

const Library& library() {
  static const Library shipped(std::filesystem::path(PLIANT_SOURCE_DIR) / "configs");
  return shipped;
}

Task shipped_task(const char* accelerator, const char* layer, const char* conventions = "physical") {
  Task task;
  task.accelerator = load_accelerator(library(), accelerator);
  task.accelerator.conventions = *Conventions::preset(conventions);
  task.layer = parse_layer(layer, "test");
  task.flexibility = task.accelerator.flexibility_of(task.layer);
  return task;
}

TEST(Mappers, UnknownNameIsNoMapper) {
  EXPECT_EQ(make_mapper("exat"), nullptr);
  for (const std::string& name : mapper_names()) EXPECT_EQ(make_mapper(name)->name(), name);
}

TEST(Mappers, ObjectivesByName) {
  for (const std::string& name : objective_names()) EXPECT_EQ(to_string(*parse_objective(name)), name);
  EXPECT_FALSE(parse_objective("area"));
  Totals totals;
  totals.energy_pj = 6;
  totals.cycles = 4;
  totals.steps = 2;
  totals.utilization = 0.25;  // half of the units at work, half of the time waiting
  EXPECT_EQ(objective_value(Objective::kRuntime, totals), 4);
  EXPECT_EQ(objective_value(Objective::kEdp, totals), 24);
  EXPECT_EQ(objective_value(Objective::kEd2p, totals), 96);
  EXPECT_EQ(objective_value(Objective::kEdpOverUtilization, totals), 48);
}

TEST(Mappers, NoneBeatsTheTruth) {
  const std::unique_ptr<Mapper> exhaustive = make_mapper("exhaustive");
  const tests::CaseOptions options{
      .factorizations = {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRubyT, Factorization::kRuby},
      .most_mappings = 3'000};
  for (const char* name : {"local", "genetic", "random"}) {
    const std::unique_ptr<Mapper> mapper = make_mapper(name);
    int found = 0, best = 0, cases = 0;
    for (std::uint64_t seed = 5000; seed < 5064; ++seed) {
      const tests::RandomCase random = tests::random_case(seed, options);
      const SearchResult truth = run_mapper(*exhaustive, random.task, {});
      SearchOptions search;
      search.budget.evaluations = 2000;
      if (std::string_view(name) == "genetic") search.extra = {{"generations", "20"}, {"population", "40"}};
      const SearchResult result = run_mapper(*mapper, random.task, search);  // throws on anything illegal or mispriced
      if (!truth.mapping) {
        EXPECT_FALSE(result.mapping) << random.text;
        continue;
      }
      ++cases;
      if (!result.mapping) continue;
      ++found;
      ASSERT_GE(result.value, truth.value * (1 - 1e-12)) << name << "\n" << random.text;
      EXPECT_FALSE(result.certified);
      best += result.value <= truth.value * (1 + 1e-12);
    }
    // Heuristics need not find the optimum, but on spaces this small they seldom miss it.
    EXPECT_GE(found, cases * 9 / 10) << name;
    EXPECT_GE(best, cases * 6 / 10) << name;
  }
}

TEST(Mappers, SameAnswerOnAnyNumberOfThreadsAndAgain) {
  const Task task = shipped_task("eyeriss", "conv:M=32,C=16,P=14,Q=14,R=3,S=3");
  for (const std::string& name : mapper_names()) {
    if (name == "exhaustive") continue;
    SearchOptions options;
    options.seed = 7;
    const SearchResult first = run_mapper(*make_mapper(name), task, options);
    ASSERT_TRUE(first.mapping) << name;
    for (const int threads : {1, 2, 5}) {
      options.threads = threads;
      const SearchResult again = run_mapper(*make_mapper(name), task, options);
      EXPECT_EQ(again.value, first.value) << name << " with " << threads << " threads";
      EXPECT_EQ(*again.mapping, *first.mapping) << name << " with " << threads << " threads";
      EXPECT_EQ(again.ended_by, first.ended_by) << name;
    }
  }
}

TEST(Mappers, AnotherSeedDrawsOtherMappings) {
  const Task task = shipped_task("eyeriss", "conv:M=64,C=64,P=56,Q=56,R=3,S=3");
  for (const char* name : {"random", "genetic"}) {
    SearchOptions a, b;
    a.budget.evaluations = b.budget.evaluations = 300;
    b.seed = 2;
    EXPECT_NE(run_mapper(*make_mapper(name), task, a).value, run_mapper(*make_mapper(name), task, b).value) << name;
  }
}

TEST(Mappers, ABudgetIsKept) {
  const Task task = shipped_task("simba", "conv:M=256,C=256,P=56,Q=56,R=5,S=5,B=32,stride=2,dilation=3", "quickflow");
  for (const char* name : {"local", "genetic", "random"}) {
    SearchOptions options;
    options.budget.seconds = 0.3;
    options.extra = {};
    if (std::string_view(name) == "random") options.extra = {{"victory", "1000000000"}};
    if (std::string_view(name) == "genetic") options.extra = {{"generations", "1000000"}};
    if (std::string_view(name) == "local") options.extra = {{"effort", "1e12"}};
    const auto start = std::chrono::steady_clock::now();
    const SearchResult result = run_mapper(*make_mapper(name), task, options);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    EXPECT_EQ(result.ended_by, "budget") << name;
    EXPECT_TRUE(result.mapping) << name;
    EXPECT_LT(seconds, 0.3 + 0.2) << name;  // a busy machine may not run us for a while
  }
}

TEST(Mappers, AStopIsAnswered) {
  const Task task = shipped_task("simba", "conv:M=256,C=256,P=56,Q=56,R=5,S=5,B=32", "quickflow");
  for (const char* name : {"local", "genetic", "random"}) {
    std::stop_source source;
    SearchOptions options;
    options.stop = source.get_token();
    if (std::string_view(name) == "random") options.extra = {{"victory", "1000000000"}};
    if (std::string_view(name) == "genetic") options.extra = {{"generations", "1000000"}};
    if (std::string_view(name) == "local") options.extra = {{"effort", "1e12"}};
    const auto start = std::chrono::steady_clock::now();
    std::jthread stopper([&source] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      source.request_stop();
    });
    const SearchResult result = run_mapper(*make_mapper(name), task, options);
    EXPECT_EQ(result.ended_by, "stopped") << name;
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 1.0) << name;
  }
}

TEST(Mappers, AHintPrunesAndClaimsNoMore) {
  Task task = shipped_task("eyeriss", "conv:M=32,C=16,P=14,Q=14,R=3,S=3");
  task.objective = Objective::kEnergy;  // the least energy leaves units idle here
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  const SearchResult best = run_mapper(*exact, task, {});
  const double used = best.totals.utilization * best.totals.cycles / best.totals.steps;
  ASSERT_LT(used, 0.9);
  task.accelerator.hints.min_utilization = 0.9;
  const SearchResult pruned = run_mapper(*exact, task, {});
  EXPECT_GE(pruned.totals.utilization * pruned.totals.cycles / pruned.totals.steps, 0.9);
  EXPECT_GT(pruned.value, best.value);
  EXPECT_FALSE(pruned.certified);
  // 3 iterations in all: no choice uses so many units, and the hint gives way.
  task = shipped_task("eyeriss", "gemm:M=3,N=1,K=1");
  task.accelerator.hints.min_utilization = 0.9;
  EXPECT_TRUE(run_mapper(*exact, task, {}).certified);
}

TEST(Mappers, LocalStartsWhereTilesAreFixed) {
  Task task = shipped_task("eyeriss", "gemm:M=64,N=64,K=64");
  task.flexibility.levels[1].tile.fixed = {{"M", 4}, {"N", 8}};
  const SearchResult result = run_mapper(*make_mapper("local"), task, {});
  ASSERT_TRUE(result.mapping);
  const SearchResult best = run_mapper(*make_mapper("exact"), task, {});
  ASSERT_TRUE(best.mapping);
  EXPECT_GE(result.value, best.value * (1 - 1e-9));
}

}  // namespace
}  // namespace pliant
