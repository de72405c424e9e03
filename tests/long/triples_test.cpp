// SPDX-License-Identifier: Apache-2.0
// As tests/dse/cli/combinations_test.cpp, every triple.
#include <gtest/gtest.h>

#include <iostream>

#include "support/combination_run.h"

namespace pliant {
namespace {

constexpr int kTests = 8;

class EveryTriple : public testing::TestWithParam<int> {};

TEST_P(EveryTriple, HoldsTogether) {
  tests::run_combinations(3, GetParam(), kTests, "triples_test", "*EveryTriple*");
  const tests::CoveringArray& array = tests::combinations(3);
  std::cout << array.tuples << " triples in " << array.rows.size() << " rows; " << array.impossible
            << " cannot stand together\n";
}

INSTANTIATE_TEST_SUITE_P(Combinations, EveryTriple, testing::Range(0, kTests));

}  // namespace
}  // namespace pliant
