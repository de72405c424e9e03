// SPDX-License-Identifier: Apache-2.0
// On random small cases `exact` and enumeration agree: infeasible or not, lower bounds, certified values.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "dse/mappers/mapper.h"
#include "support/random_cases.h"

namespace pliant::tests {

/// How many cases: PLIANT_CASES, else as many as a unit test may take.
inline std::uint64_t cases_or(std::uint64_t few) {
  const char* many = std::getenv("PLIANT_CASES");
  return many != nullptr ? std::strtoull(many, nullptr, 10) : few;
}

/// Nine cases of ten must be certified or infeasible; nothing may differ.
inline void expect_proofs_agree(const CaseOptions& options, std::uint64_t cases) {
  std::uint64_t certified = 0, infeasible = 0;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) {
    const RandomCase random = random_case(seed, options);
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

}  // namespace pliant::tests
