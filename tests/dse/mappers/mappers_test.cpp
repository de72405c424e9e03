// SPDX-License-Identifier: Apache-2.0
// What every mapper promises: nothing better than the truth, the same answer every time, the budget kept.

#include <gtest/gtest.h>

#include <stop_token>
#include <string>

#include "core/input/load.h"
#include "core/legality.h"
#include "dse/mappers/mapper.h"
#include "support/driven_clock.h"
#include "support/random_cases.h"
#include "support/shipped_library.h"

namespace pliant {
namespace {

Task shipped_task(const char* accelerator, const std::string& layer, const char* conventions = "physical") {
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

TEST(Mappers, EveryOneRefusesOptionsItDoesNotHave) {
  const Task task = shipped_task("eyeriss", "gemm:M=4,N=4,K=4");
  for (const std::string& name : mapper_names()) {
    SearchOptions options;
    options.extra = {{"foo", "1"}};
    EXPECT_THROW(run_mapper(*make_mapper(name), task, options), InputError) << name;
  }
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
  for (const char* name : {"exact", "local", "genetic", "random"}) {
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
      EXPECT_EQ(result.certified, std::string_view(name) == "exact");
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
    if (name == "exhaustive" || name == "goma") continue;  // too large for the one, not GOMA's template
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

// Many choices, ports that bind, and a search after the tables: the rounds of the exact mapper at work.
TEST(Mappers, ExactIsTheSameOnAnyNumberOfThreads) {
  std::vector<Task> tasks{shipped_task("simba", "conv:M=96,C=64,P=14,Q=14,R=3,S=3", "quickflow"),
                          shipped_task("goma_eyeriss", "gemm:M=1024,N=3072,K=1024")};
  tasks[1].factorization = Factorization::kRubyS;
  for (const Task& task : tasks) {
    SearchOptions options;
    const SearchResult first = run_mapper(*make_mapper("exact"), task, options);
    ASSERT_TRUE(first.certified);
    for (const int threads : {2, 3}) {
      options.threads = threads;
      const SearchResult again = run_mapper(*make_mapper("exact"), task, options);
      EXPECT_EQ(again.value, first.value);
      EXPECT_EQ(*again.mapping, *first.mapping);
      EXPECT_EQ(again.evaluations, first.evaluations);
    }
  }
}

// There is one list of unrollings, however many threads share its lattices: they do not leave less memory for it.
TEST(Mappers, ExactListsAsManyUnrollingsOnManyThreadsAsOnOne) {
  Task task = shipped_task("h100", "gemm:M=500,N=384,K=768");
  task.factorization = Factorization::kRubyS;
  SearchOptions options;
  options.budget.memory_bytes = std::size_t{16} << 20;
  const SearchResult first = run_mapper(*make_mapper("exact"), task, options);
  ASSERT_TRUE(first.certified);
  options.threads = 64;
  const SearchResult again = run_mapper(*make_mapper("exact"), task, options);
  EXPECT_TRUE(again.certified);
  EXPECT_EQ(again.value, first.value);
  EXPECT_EQ(again.evaluations, first.evaluations);
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

// With remainders most tiles of a large layer overflow the buffer, whatever is drawn for all dims at once.
TEST(Mappers, GeneticStartsWhereWholeDrawsDoNotFit) {
  Task task = shipped_task("flexref", "conv:M=64,C=3,P=224,Q=224,R=11,S=11");
  task.accelerator = choose_flexibility(library(), "FullFlex-1111", task.accelerator);
  task.flexibility = task.accelerator.flexibility_of(task.layer);
  task.factorization = Factorization::kRubyS;
  task.objective = Objective::kRuntime;
  SearchOptions options;
  options.extra = {{"population", "4"}, {"generations", "20"}};
  const SearchResult found = run_mapper(*make_mapper("genetic"), task, options);
  ASSERT_TRUE(found.mapping);  // legal: run_mapper checks
  options.extra = {{"population", "4"}, {"generations", "1"}};
  EXPECT_LT(found.value, run_mapper(*make_mapper("genetic"), task, options).value);
}

/// Tasks on which every mapper could go on for long.
struct EndlessTask {
  const char* mapper;
  Task task;
  std::vector<std::pair<std::string, std::string>> extra;
};

/// A look is worth about so much work.
constexpr double kSecondsALook = 4e-4;
constexpr std::uint64_t kLookThatStops = 1000;

std::vector<EndlessTask> endless_tasks() {
  const std::string holes = "R=5,S=5,B=32,stride=2,dilation=3";
  const Task conv = shipped_task("simba", "conv:M=256,C=256,P=56,Q=56," + holes, "quickflow");
  std::vector<EndlessTask> all{{"local", conv, {{"effort", "1e12"}}},
                               {"genetic", conv, {{"generations", "1000000"}}},
                               {"random", conv, {{"victory", "1000000000"}}}};
  // Convolutions with remainders everywhere; the largest GEMM of the LLM studies on 65,536 units.
  Task remainders = shipped_task("flexref", "conv:M=250,C=250,P=55,Q=55,R=3,S=3,stride=2,B=8");
  remainders.factorization = Factorization::kRuby;
  all.push_back({"exact", remainders, {}});
  remainders = shipped_task("goma_tpuv1", "conv:M=250,C=250,P=55,Q=55," + holes, "quickflow");
  remainders.factorization = Factorization::kRubyS;
  all.push_back({"exact", remainders, {}});
  for (const Factorization rule : {Factorization::kRubyT, Factorization::kPadding}) {
    Task gemm = shipped_task("goma_a100", "gemm:M=131072,N=5120,K=25600");
    gemm.factorization = rule;
    all.push_back({"exact", gemm, {}});
  }
  return all;
}

// Time passes with every look at the clock, so a search that uses up its budget has looked often enough, and one that
// goes on afterwards is late. (How far looks are apart on a real clock: bench/kept_budgets.)
TEST(Mappers, ABudgetIsKept) {
  for (const EndlessTask& endless : endless_tasks()) {
    SCOPED_TRACE(std::string(endless.mapper) + " " + std::string(to_string(endless.task.factorization)));
    const tests::DrivenClock clock(kSecondsALook);
    SearchOptions options;
    options.clock = &clock;
    options.budget.seconds = 1;
    options.extra = endless.extra;
    const SearchResult result = make_mapper(endless.mapper)->search(endless.task, options);
    EXPECT_GE(clock.seconds(), options.budget.seconds);
    EXPECT_LE(clock.seconds(), 1.1 * options.budget.seconds);
    EXPECT_LE(result.seconds, clock.seconds());
    RecordProperty("looks", std::to_string(clock.looks()));
    // The exact mapper may have left something for want of memory before its time was up.
    const bool cramped = result.ended_by == EndedBy::kMemory && std::string_view(endless.mapper) == "exact";
    EXPECT_EQ(to_string(result.ended_by), cramped ? "memory" : "budget");
    ASSERT_TRUE(result.mapping);
    EXPECT_FALSE(result.certified);
    EXPECT_LE(result.lower_bound, result.value);
  }
}

TEST(Mappers, AStopIsAnswered) {
  for (const EndlessTask& endless : endless_tasks()) {
    SCOPED_TRACE(std::string(endless.mapper) + " " + std::string(to_string(endless.task.factorization)));
    std::stop_source source;
    const tests::DrivenClock clock(kSecondsALook, [&source](std::uint64_t look) {
      if (look == kLookThatStops) source.request_stop();
    });
    SearchOptions options;
    options.clock = &clock;
    options.budget.seconds = 1e9;  // so that the clock is looked at
    options.stop = source.get_token();
    options.extra = endless.extra;
    const SearchResult result = make_mapper(endless.mapper)->search(endless.task, options);
    EXPECT_EQ(to_string(result.ended_by), "stopped");
    EXPECT_GE(clock.looks(), kLookThatStops);
    EXPECT_LE(clock.looks(), 1.1 * kLookThatStops);
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
