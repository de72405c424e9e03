// SPDX-License-Identifier: Apache-2.0
// The promise of the exact mapper: on every map-space small enough to enumerate, its certified value is the best value.
#include "dse/mappers/exact_mapper.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "core/legality.h"
#include "random_cases.h"

namespace pliant {
namespace {

struct Tally {
  int cases = 0, infeasible = 0, uncertified = 0;
  std::map<std::string, int> kinds;
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
    EXPECT_TRUE(exact.infeasible);
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

}  // namespace
}  // namespace pliant
