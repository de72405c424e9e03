// SPDX-License-Identifier: Apache-2.0
// The checker counts the words of a tile by itself: compared with listing them, and with what the generators count.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "core/legality_judge.h"

namespace pliant {
namespace {

/// Every point of the tile, the elements it touches in a set.
std::size_t by_listing(const Tensor& tensor, const std::vector<Count>& tiles) {
  std::set<std::vector<Count>> elements;
  std::vector<Count> at(tiles.size(), 0);
  while (true) {
    std::vector<Count> element;
    for (const Rank& rank : tensor.ranks) {
      Count index = 0;
      for (const Term& term : rank.terms) index += term.coefficient * at[static_cast<std::size_t>(term.dim)];
      element.push_back(index);
    }
    elements.insert(element);
    std::size_t d = 0;
    while (d < at.size() && ++at[d] == tiles[d]) at[d++] = 0;
    if (d == at.size()) return elements.size();
  }
}

Tensor random_tensor(std::mt19937& random, int dims) {
  Tensor tensor;
  tensor.name = "T";
  for (unsigned ranks = 1 + random() % 3; ranks-- > 0;) {
    Rank rank;
    DimSet used = 0;
    for (unsigned terms = 1 + random() % 3; terms-- > 0;) {
      const int d = static_cast<int>(random() % static_cast<unsigned>(dims));
      if ((used >> d & 1U) != 0) continue;
      used |= DimSet{1} << d;
      rank.terms.push_back({d, 1 + static_cast<Count>(random() % 7)});
    }
    tensor.ranks.push_back(rank);
  }
  return tensor;
}

TEST(CheckersFootprint, DistinctElementsAreThoseOfTheTile) {
  std::mt19937 random(5);
  int shared = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const int dims = 2 + static_cast<int>(random() % 3);
    const Tensor tensor = random_tensor(random, dims);
    std::vector<Count> tiles;
    for (int d = 0; d < dims; ++d) tiles.push_back(1 + static_cast<Count>(random() % 6));
    const auto words = static_cast<std::size_t>(legality::tile_words(tensor, Conventions::Footprint::kDistinct, tiles));
    ASSERT_EQ(words, by_listing(tensor, tiles)) << "trial " << trial;
    shared += tensor.ranks.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(shared, 1000);
}

TEST(CheckersFootprint, LargeTilesAgreeWithTheWholeTensorOfTheLayer) {
  std::mt19937 random(6);
  for (int trial = 0; trial < 150; ++trial) {
    Layer layer;
    const int dims = 2 + static_cast<int>(random() % 3);
    std::vector<Count> sizes;
    for (int d = 0; d < dims; ++d) {
      sizes.push_back(1 + static_cast<Count>(random() % 60));
      layer.dims.push_back({std::string(1, static_cast<char>('A' + d)), sizes.back()});
    }
    layer.tensors.push_back(random_tensor(random, dims));
    const auto words =
        static_cast<Count>(legality::tile_words(layer.tensors[0], Conventions::Footprint::kDistinct, sizes));
    ASSERT_EQ(words, layer.tensor_words(0)) << "trial " << trial;
  }
}

TEST(CheckersFootprint, LongTermsAreCountedWithoutListing) {
  // 3a + 5b + 7c with a < 10^9: beyond the few holes at both ends every value up to the largest is met.
  const Tensor tensor{.name = "T", .role = Role::kInput, .ranks = {{{{0, 3}, {1, 5}, {2, 7}}}}};
  const auto words = [&](Count a) {
    return static_cast<Count>(legality::tile_words(tensor, Conventions::Footprint::kDistinct, {a, 4, 4}));
  };
  EXPECT_EQ(words(1'000'000'000) - words(999'999'999), 3);
  EXPECT_EQ(words(1'000'000'000) - words(1000), Count{3} * (1'000'000'000 - 1000));
  EXPECT_EQ(static_cast<std::size_t>(words(1000)), by_listing(tensor, {1000, 4, 4}));
}

TEST(CheckersFootprint, BoxesSpanTheirHoles) {
  const Tensor tensor{.name = "T", .role = Role::kInput, .ranks = {{{{0, 4}}}, {{{0, 1}, {1, 2}}}}};
  EXPECT_EQ(static_cast<Count>(legality::tile_words(tensor, Conventions::Footprint::kBoundingBox, {3, 5})),
            (4 * 2 + 1) * (2 + 2 * 4 + 1));
}

}  // namespace
}  // namespace pliant
