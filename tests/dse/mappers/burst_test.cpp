// SPDX-License-Identifier: Apache-2.0
// Under the burst rule (docs/adding-a-rule.md) every mapper keeps its promise: `exact` and enumeration agree, the
// others find legal mappings no better than the truth, and an impossible burst is named as the reason.
#include <gtest/gtest.h>

#include "dse/mappers/infeasible.h"
#include "dse/mappers/mapper.h"
#include "support/proof_agreement.h"

namespace pliant {
namespace {

using tests::cases_or;
using tests::expect_proofs_agree;

tests::CaseOptions with_bursts(std::vector<Factorization> factorizations) {
  tests::CaseOptions options;
  options.factorizations = std::move(factorizations);
  options.bursts = true;
  options.infeasible_share = 0.1;
  return options;
}

TEST(BurstRule, ExactAgreesWithEnumeration) {
  expect_proofs_agree(with_bursts({Factorization::kPerfect}), cases_or(400));
}

TEST(BurstRule, ExactAgreesWithEnumerationWhereFanoutsLeaveRemainders) {
  expect_proofs_agree(with_bursts({Factorization::kRubyS}), cases_or(200));
}

TEST(BurstRule, ExactAgreesWithEnumerationWhereLoopsLeaveRemainders) {
  expect_proofs_agree(with_bursts({Factorization::kRubyT, Factorization::kRuby}), cases_or(200));
}

TEST(BurstRule, ExactAgreesWithEnumerationWithPadding) {
  expect_proofs_agree(with_bursts({Factorization::kPadding}), cases_or(100));
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
