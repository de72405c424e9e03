// SPDX-License-Identifier: Apache-2.0
// Fused tiles against enumeration on as many random chains as anyone likes:
//
//     PLIANT_CASES=1000 PLIANT_SEED=1000 build/ci/bin/fusion_soak_test
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "support/enumerated_fusion.h"

namespace pliant {
namespace {

std::uint64_t asked(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(FusionSoak, AgreesWithEnumeration) {
  const std::uint64_t first = asked("PLIANT_SEED", 1000), cases = asked("PLIANT_CASES", 1000);
  tests::FusionCounts counts;
  std::uint64_t seed = first;
  for (; counts.networks < static_cast<int>(cases) && !::testing::Test::HasFailure(); ++seed)
    tests::compare_fusion_with_enumeration(seed, counts);
  std::cout << counts.networks << " chains (seeds " << first << " to " << seed - 1 << "), " << counts.plans
            << " stacks with held sets walked, " << counts.comparisons << " optima compared, " << counts.better
            << " chains better with tiles; groups with a window " << counts.windows << ", nested " << counts.nested
            << ", with sums that come back " << counts.splits << "; " << counts.infeasible << " without a mapping"
            << std::endl;
  EXPECT_GE(counts.better, static_cast<int>(cases) / 6);
}

TEST(FusionSoak, OperatorsOnTilesAgreeWithEnumeration) {
  const std::uint64_t first = asked("PLIANT_SEED", 1000), cases = asked("PLIANT_CASES", 1000) / 4;
  tests::FusionCounts counts;
  std::uint64_t seed = first;
  for (; counts.networks < static_cast<int>(cases) && !::testing::Test::HasFailure(); ++seed)
    tests::compare_operators_with_enumeration(seed, counts);
  std::cout << counts.networks << " chains with an operator (seeds " << first << " to " << seed - 1 << "), "
            << counts.comparisons << " optima compared, " << counts.better << " chains better with tiles" << std::endl;
  EXPECT_GE(counts.better, static_cast<int>(cases) / 12);
}

TEST(FusionSoak, BranchesAgreeWithEnumeration) {
  const std::uint64_t first = asked("PLIANT_SEED", 1000), cases = asked("PLIANT_CASES", 1000) / 4;
  tests::FusionCounts counts;
  std::uint64_t seed = first;
  for (; counts.networks < static_cast<int>(cases) && !::testing::Test::HasFailure(); ++seed)
    tests::compare_graphs_with_enumeration(seed, counts);
  std::cout << counts.networks << " networks with branches (seeds " << first << " to " << seed - 1 << "), "
            << counts.comparisons << " optima compared, " << counts.better << " with tiles; " << counts.infeasible
            << " without a mapping" << std::endl;
  EXPECT_GE(counts.better, static_cast<int>(cases) / 12);
}

TEST(FusionSoak, HeadsThatShareOperandsAgreeWithEnumeration) {
  const std::uint64_t first = asked("PLIANT_SEED", 1000), cases = asked("PLIANT_CASES", 1000) / 4;
  tests::FusionCounts counts;
  std::uint64_t seed = first;
  for (; counts.networks < static_cast<int>(cases) && !::testing::Test::HasFailure(); ++seed)
    tests::compare_heads_with_enumeration(seed, counts);
  std::cout << counts.networks << " groups of counted layers (seeds " << first << " to " << seed - 1 << "), "
            << counts.comparisons << " optima compared; held operands that layers share " << counts.shared
            << ", rows in parts " << counts.parts << std::endl;
  EXPECT_GE(counts.shared, static_cast<int>(cases) / 12);
}

}  // namespace
}  // namespace pliant
