// SPDX-License-Identifier: Apache-2.0
// The promise of the exact mapper: on every map-space small enough to enumerate, its certified value is the best value.
#include "dse/mappers/exact_mapper.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/legality.h"
#include "random_cases.h"

namespace pliant {
namespace {

struct Tally {
  int cases = 0, infeasible = 0, uncertified = 0, missed = 0;
};

void compare(std::uint64_t seed, const tests::CaseOptions& options, Tally& tally) {
  const tests::RandomCase random = tests::random_case(seed, options);
  SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + random.text);
  const SearchResult truth = make_mapper("exhaustive")->search(random.task, {});
  const SearchResult exact = make_mapper("exact")->search(random.task, {});
  ++tally.cases;
  ASSERT_EQ(truth.mapping.has_value(), exact.mapping.has_value());
  if (!truth.mapping) {
    ++tally.infeasible;
    EXPECT_FALSE(exact.certified);
    return;
  }
  EXPECT_TRUE(check_legality(random.task.layer, random.task.accelerator, random.task.flexibility,
                             random.task.factorization, *exact.mapping)
                  .empty());
  // The bound never exceeds the truth, and what is called certified is the truth.
  EXPECT_LE(exact.lower_bound, truth.value * (1 + 1e-9));
  EXPECT_GE(exact.value, truth.value * (1 - 1e-9));
  if (exact.certified) {
    EXPECT_NEAR(exact.value / truth.value, 1, 1e-9);
  } else {
    ++tally.uncertified;
    if (exact.value > truth.value * (1 + 1e-9)) ++tally.missed;
  }
}

TEST(ExactMapper, EqualsExhaustiveOnRandomSmallCases) {
  const char* many = std::getenv("PLIANT_CASES");
  const std::uint64_t cases = many != nullptr ? std::strtoull(many, nullptr, 10) : 640;
  Tally tally;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) {
    compare(seed, {}, tally);
    if (HasFatalFailure()) return;
  }
  EXPECT_LT(tally.infeasible, tally.cases / 10);
  RecordProperty("cases", tally.cases);
  RecordProperty("uncertified", tally.uncertified);
}

// With temporal remainders nothing is claimed but a bound; what is found is legal and good.
TEST(ExactMapper, IsHonestWithTemporalRemainders) {
  tests::CaseOptions options;
  options.factorizations = {Factorization::kRuby, Factorization::kRubyT};
  Tally tally;
  for (std::uint64_t seed = 1; seed <= 160; ++seed) {
    compare(seed, options, tally);
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(tally.uncertified, tally.cases - tally.infeasible);
  EXPECT_LT(tally.missed, tally.cases / 20);
}

}  // namespace
}  // namespace pliant
