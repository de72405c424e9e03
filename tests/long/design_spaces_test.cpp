// SPDX-License-Identifier: Apache-2.0
// Two hundred random design spaces: the proven frontier is that of the full sweep. PLIANT_SPACES and PLIANT_SEED choose
// others.
#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>
#include <string>

#include "support/design_spaces.h"

namespace pliant {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Compares so many random spaces. Where no design meets the limits the search says so, and the sweep has none.
enum class Tensors { kOfLayers, kStay, kTiles };
void compare_spaces(const std::string& name, std::int64_t most_designs, Tensors tensors) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const tests::ScratchFolder folder(name);
  const std::uint64_t first = from_environment("PLIANT_SEED", 1000), count = from_environment("PLIANT_SPACES", 200);
  std::size_t largest = 0, compared = 0;
  for (std::uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
    tests::RandomSpace space = tests::random_space(library, seed, folder.path(), most_designs);
    if (tensors == Tensors::kStay) tests::let_tensors_stay(space, seed);
    if (tensors == Tensors::kTiles && !tests::let_tiles_pass(space, seed)) continue;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + space.text);
    const std::vector<Point> truth = tests::swept_frontier(library, space.sweep, folder.path());
    std::vector<Point> proven;
    try {
      proven = tests::proven_frontier(library, space.sweep, 2);
      ++compared;
    } catch (const std::exception& refused) {
      EXPECT_NE(std::string(refused.what()).find("no design meets"), std::string::npos) << refused.what();
    }
    tests::expect_same_points(proven, truth);
    largest = std::max(largest, truth.size());
  }
  EXPECT_GE(largest, 4U);
  EXPECT_GE(compared, count * 3 / 4);
}

TEST(DesignSpaces, TheProvenFrontierIsThatOfTheFullSweep) { compare_spaces("design_spaces", 120, Tensors::kOfLayers); }

TEST(DesignSpaces, WithTensorsThatStayTheProvenFrontierIsThatOfTheFullSweep) {
  compare_spaces("design_spaces_staying", 60, Tensors::kStay);
}

TEST(DesignSpaces, WithTilesThatPassTheProvenFrontierIsThatOfTheFullSweep) {
  compare_spaces("design_spaces_tiles", 40, Tensors::kTiles);
}

}  // namespace
}  // namespace pliant
