// SPDX-License-Identifier: Apache-2.0
// exhaustive against the plainest possible search: every mapping of flex/mapspace/enumerate.h, judged by the legality
// checker and priced from scratch.

#include <gtest/gtest.h>

#include "core/input/diagnostics.h"
#include "core/legality.h"
#include "costmodel/report.h"
#include "dse/mappers/mapper.h"
#include "flex/mapspace/enumerate.h"
#include "support/random_cases.h"

namespace pliant {
namespace {

using tests::CaseOptions;
using tests::RandomCase;

struct Plain {
  std::uint64_t legal = 0;
  double best = 0;
};

Plain plain_search(const Task& task) {
  Plain plain;
  for_each_mapping(task.layer, task.accelerator, task.flexibility, task.factorization, [&](const Mapping& mapping) {
    if (!check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, mapping).empty())
      return true;
    const double value = objective_value(task.objective, price(task.layer, task.accelerator, mapping).totals);
    if (plain.legal++ == 0 || value < plain.best) plain.best = value;
    return true;
  });
  return plain;
}

void compare(std::uint64_t first_seed, std::uint64_t cases, const CaseOptions& options) {
  const std::unique_ptr<Mapper> mapper = make_mapper("exhaustive");
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    const RandomCase random = tests::random_case(seed, options);
    const Plain plain = plain_search(random.task);
    const SearchResult result = run_mapper(*mapper, random.task, {});
    ASSERT_EQ(result.mappings_covered, std::to_string(plain.legal)) << random.text;
    ASSERT_EQ(result.infeasible, plain.legal == 0) << random.text;
    if (plain.legal == 0) continue;
    ASSERT_TRUE(result.certified);
    ASSERT_NEAR(result.value, plain.best, 1e-12 * plain.best) << random.text;
  }
}

TEST(ExhaustiveMapper, EqualsThePlainestSearch) { compare(1, 160, {.most_mappings = 2'000}); }

TEST(ExhaustiveMapper, EqualsThePlainestSearchWithImperfectFactors) {
  compare(1000, 64, {.factorizations = {Factorization::kRubyT, Factorization::kRuby}, .most_mappings = 2'000});
}

TEST(ExhaustiveMapper, EqualsThePlainestSearchWithPadding) {
  compare(2000, 32, {.factorizations = {Factorization::kPadding}, .most_mappings = 2'000});
}

TEST(ExhaustiveMapper, RefusesLargeSpaces) {
  RandomCase random = tests::random_case(7);
  SearchOptions options;
  options.extra = {{"limit", "1"}};
  EXPECT_THROW(run_mapper(*make_mapper("exhaustive"), random.task, options), InputError);
  options.extra = {{"limits", "1"}};
  EXPECT_THROW(run_mapper(*make_mapper("exhaustive"), random.task, options), InputError);
}

}  // namespace
}  // namespace pliant
