// SPDX-License-Identifier: Apache-2.0
// Under the burst rule (docs/adding-a-rule.md) every mapper keeps its promise: `exact` and enumeration agree, the
// others find legal mappings no better than the truth, and an impossible burst is named as the reason.
#include <gtest/gtest.h>

#include <cstdlib>

#include "dse/mappers/infeasible.h"
#include "dse/mappers/mapper.h"
#include "support/random_cases.h"

namespace pliant {
namespace {

std::uint64_t cases_or(std::uint64_t few) {
  const char* many = std::getenv("PLIANT_CASES");
  return many != nullptr ? std::strtoull(many, nullptr, 10) : few;
}

void expect_proofs_agree(std::vector<Factorization> factorizations, std::uint64_t cases) {
  tests::CaseOptions options;
  options.factorizations = std::move(factorizations);
  options.bursts = true;
  options.infeasible_share = 0.1;
  std::uint64_t certified = 0, infeasible = 0;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) {
    const tests::RandomCase random = tests::random_case(seed, options);
    const SearchResult truth = run_mapper(*make_mapper("exhaustive"), random.task, {});
    const SearchResult exact = run_mapper(*make_mapper("exact"), random.task, {});  // judged by the checker
    ASSERT_EQ(truth.infeasible, exact.infeasible) << random.text;
    if (truth.infeasible) {
      ++infeasible;
      continue;
    }
    ASSERT_LE(exact.lower_bound, truth.value * (1 + 1e-9)) << random.text;
    if (!exact.certified) continue;
    ++certified;
    ASSERT_NEAR(exact.value / truth.value, 1, 1e-9) << random.text;
  }
  EXPECT_GE(certified + infeasible, cases * 9 / 10);
}

TEST(BurstRule, ExactAgreesWithEnumeration) { expect_proofs_agree({Factorization::kPerfect}, cases_or(400)); }

TEST(BurstRule, ExactAgreesWithEnumerationWhereFanoutsLeaveRemainders) {
  expect_proofs_agree({Factorization::kRubyS}, cases_or(200));
}

TEST(BurstRule, ExactAgreesWithEnumerationWhereLoopsLeaveRemainders) {
  expect_proofs_agree({Factorization::kRubyT, Factorization::kRuby}, cases_or(200));
}

TEST(BurstRule, ExactAgreesWithEnumerationWithPadding) {
  expect_proofs_agree({Factorization::kPadding}, cases_or(100));
}

TEST(BurstRule, OtherMappersFindLegalMappings) {
  tests::CaseOptions options;
  options.bursts = true;
  options.factorizations = {Factorization::kPerfect};
  options.least_mappings = 50;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const tests::RandomCase random = tests::random_case(seed, options);
    const SearchResult truth = run_mapper(*make_mapper("exhaustive"), random.task, {});
    for (const char* name : {"random", "local", "genetic"}) {
      SearchOptions search;
      search.budget.evaluations = 2000;
      const SearchResult found = run_mapper(*make_mapper(name), random.task, search);
      if (found.mapping) {
        EXPECT_GE(found.value, truth.value * (1 - 1e-9)) << name << "\n" << random.text;
      }
    }
  }
}

TEST(BurstRule, AnImpossibleBurstIsTheReasonGiven) {
  Task task;
  task.layer = make_gemm("gemm", {.M = 3, .N = 5, .K = 7});
  task.accelerator.name = "bursts";
  task.accelerator.levels = {{"DRAM", Memory{}}, {"Buffer", Memory{.capacity_words = 1000}}, {"MAC", Compute{}}};
  task.flexibility.levels.resize(3);
  task.flexibility.levels[1].tile.burst = 2;  // no product of 3, 5 and 7 is even
  EXPECT_TRUE(make_mapper("exact")->search(task, {}).infeasible);
  const auto why = why_nothing_fits(task);
  ASSERT_TRUE(why.has_value());
  ASSERT_EQ(why->conflict.size(), 1u);
  EXPECT_EQ(why->conflict[0].text, "Buffer holds tiles of whole bursts of 2 words");
}

}  // namespace
}  // namespace pliant
