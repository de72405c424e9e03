// SPDX-License-Identifier: Apache-2.0
// Residency against enumeration on as many random networks as anyone likes:
//
//     PLIANT_CASES=300 PLIANT_SEED=1000 build/ci/bin/residency_soak_test
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "support/residency_agreement.h"

namespace pliant {
namespace {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(ResidencySoak, AgreesWithEnumeration) {
  const std::uint64_t first = setting("PLIANT_SEED", 1000), cases = setting("PLIANT_CASES", 300);
  tests::ResidencyCounts counts;
  std::uint64_t seed = first;
  for (; counts.networks < static_cast<int>(cases) && !::testing::Test::HasFailure(); ++seed)
    tests::compare_with_enumeration(seed, counts);
  std::cout << counts.networks << " networks (seeds " << first << " to " << seed - 1 << "), " << counts.comparisons
            << " optima compared, " << counts.better << " networks better with residency, " << counts.equal
            << " equal, " << counts.infeasible << " networks without a mapping" << std::endl;
  EXPECT_GE(counts.better, static_cast<int>(cases) / 3);
}

TEST(ResidencySoak, WeightsAgreeWithEnumeration) {
  const std::uint64_t first = setting("PLIANT_SEED", 1000), cases = setting("PLIANT_CASES", 300);
  tests::ResidencyCounts counts;
  std::uint64_t seed = first;
  for (; counts.networks < static_cast<int>(cases) && !::testing::Test::HasFailure(); ++seed)
    tests::compare_weights_with_enumeration(seed, counts);
  std::cout << counts.networks << " networks (seeds " << first << " to " << seed - 1 << "), " << counts.comparisons
            << " optima compared, " << counts.better << " networks better with weights that stay, " << counts.equal
            << " equal" << std::endl;
  EXPECT_GE(counts.better, static_cast<int>(cases) / 3);
}

}  // namespace
}  // namespace pliant
