// SPDX-License-Identifier: Apache-2.0
// A search that may end within a gap: what it says is true, and the same on any number of threads.
#include <gtest/gtest.h>

#include "core/input/diagnostics.h"
#include "core/input/load.h"
#include "dse/audit/audit.h"
#include "dse/mappers/mapper.h"
#include "support/random_cases.h"

namespace pliant {
namespace {

Task task_on(const char* accelerator, const char* layer) {
  Task task;
  task.accelerator = load_accelerator(Library(std::filesystem::path(PLIANT_SOURCE_DIR) / "configs"), accelerator);
  task.layer = parse_layer(layer, "test");
  task.flexibility = task.accelerator.flexibility_of(task.layer);
  return task;
}

TEST(Gap, HoldsOnRandomSmallCases) {
  const tests::CaseOptions options{
      .factorizations = {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRubyT, Factorization::kRuby,
                         Factorization::kPadding},
      .most_mappings = 3'000};
  int within = 0, above = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const tests::RandomCase random = tests::random_case(seed, options);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + random.text);
    const SearchResult truth = make_mapper("exhaustive")->search(random.task, {});
    SearchOptions search;
    search.gap = seed % 3 == 0 ? 0.01 : seed % 3 == 1 ? 0.1 : 0.5;
    search.record_parts = true;
    const SearchResult result = run_mapper(*make_mapper("exact"), random.task, search);
    ASSERT_EQ(truth.mapping.has_value(), result.mapping.has_value());
    if (!truth.mapping) continue;
    ASSERT_TRUE(proven(result));
    EXPECT_LE(result.value * (1 - search.gap), truth.value * (1 + 1e-9));
    EXPECT_LE(result.lower_bound, truth.value * (1 + 1e-9));
    EXPECT_LE(result.gap(), search.gap + 1e-9);
    if (result.certified) {
      EXPECT_NEAR(result.value / truth.value, 1, 1e-9);
    }
    within += result.certified ? 0 : 1;
    above += result.value > truth.value * (1 + 1e-9) ? 1 : 0;
    const audit::AuditReport audited = audit::audit({random.task, result.mapping, result.value, result.lower_bound,
                                                     result.certified, result.infeasible, result.parts},
                                                    {});
    EXPECT_TRUE(audited.wrong.empty()) << audited.wrong.front();
    search.threads = 4;
    const SearchResult again = run_mapper(*make_mapper("exact"), random.task, search);
    EXPECT_EQ(again.value, result.value);
    EXPECT_EQ(again.lower_bound, result.lower_bound);
    EXPECT_EQ(*again.mapping, *result.mapping);
    EXPECT_EQ(again.ended_by, result.ended_by);
  }
  // The cases would show nothing if every search went on to the optimum.
  EXPECT_GT(within, 100);
  EXPECT_GT(above, 20);
}

TEST(Gap, EndsEarlierAndTheSameOnAnyNumberOfThreads) {
  const Task task = task_on("simba", "conv:M=96,C=64,P=14,Q=14,R=3,S=3");
  const SearchResult best = run_mapper(*make_mapper("exact"), task, {});
  ASSERT_TRUE(best.certified);
  SearchOptions search;
  search.gap = 0.05;
  const SearchResult close = run_mapper(*make_mapper("exact"), task, search);
  EXPECT_LE(close.evaluations, best.evaluations);
  EXPECT_LE(close.value * 0.95, best.value);
  EXPECT_LE(close.lower_bound, best.value * (1 + 1e-9));
  for (const int threads : {2, 5}) {
    search.threads = threads;
    const SearchResult again = run_mapper(*make_mapper("exact"), task, search);
    EXPECT_EQ(again.value, close.value);
    EXPECT_EQ(again.lower_bound, close.lower_bound);
  }
}

TEST(Gap, OnlyTheMapperThatProvesTakesOne) {
  const Task task = task_on("eyeriss", "gemm:M=4,N=4,K=4");
  SearchOptions search;
  search.gap = 0.01;
  for (const std::string& name : mapper_names()) {
    if (name == "exact")
      EXPECT_TRUE(proven(run_mapper(*make_mapper(name), task, search)));
    else
      EXPECT_THROW(run_mapper(*make_mapper(name), task, search), InputError) << name;
  }
}

// What is proven of the mappings that a hint leaves says nothing about the others.
TEST(Gap, OfWhatAHintLeavesIsNoProof) {
  Task task = task_on("eyeriss", "conv:M=32,C=16,P=14,Q=14,R=3,S=3");
  task.accelerator.hints.min_utilization = 0.9;
  SearchOptions search;
  search.gap = 0.2;
  const SearchResult result = run_mapper(*make_mapper("exact"), task, search);
  EXPECT_FALSE(proven(result));
  EXPECT_EQ(result.lower_bound, 0);
  EXPECT_EQ(to_string(result.ended_by), "proof within the hints");
}

}  // namespace
}  // namespace pliant
