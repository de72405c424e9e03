// SPDX-License-Identifier: Apache-2.0
// Two hundred random design spaces: the proven frontier is that of the full sweep. PLIANT_SPACES and PLIANT_SEED choose
// others.
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/design_spaces.h"

namespace pliant {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(DesignSpaces, TheProvenFrontierIsThatOfTheFullSweep) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const tests::ScratchFolder folder("design_spaces");
  const std::uint64_t first = from_environment("PLIANT_SEED", 1000), count = from_environment("PLIANT_SPACES", 200);
  std::size_t largest = 0;
  for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    const tests::RandomSpace space = tests::random_space(library, seed, folder.path(), 120);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + space.text);
    const std::vector<Point> truth = tests::swept_frontier(library, space.sweep, folder.path());
    tests::expect_same_points(tests::proven_frontier(library, space.sweep, 2), truth);
    largest = std::max(largest, truth.size());
  }
  EXPECT_GE(largest, 4U);
}

TEST(DesignSpaces, WithTensorsThatStayTheProvenFrontierIsThatOfTheFullSweep) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const tests::ScratchFolder folder("design_spaces_staying");
  const std::uint64_t first = from_environment("PLIANT_SEED", 1000), count = from_environment("PLIANT_SPACES", 200);
  std::size_t largest = 0;
  for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    tests::RandomSpace space = tests::random_space(library, seed, folder.path(), 60);
    tests::let_tensors_stay(space, seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + space.text);
    const std::vector<Point> truth = tests::swept_frontier(library, space.sweep, folder.path());
    tests::expect_same_points(tests::proven_frontier(library, space.sweep, 2), truth);
    largest = std::max(largest, truth.size());
  }
  EXPECT_GE(largest, 4U);
}

}  // namespace
}  // namespace pliant
