// SPDX-License-Identifier: Apache-2.0
// What the auditor derives of a task by itself, beside what the cost model derives of it; and elements of tiles beside
// all their indices.
#include "dse/audit/problem.h"

#include <gtest/gtest.h>

#include <set>

#include "core/input/load.h"
#include "costmodel/problem.h"
#include "dse/audit/space_rules.h"
#include "support/random_cases.h"
#include "support/shipped_library.h"

namespace pliant::audit {
namespace {

template <class Array>
auto front_of(const Array& values, int count) {
  return std::vector(values.begin(), values.begin() + count);
}

void expect_same(const Problem& own, const pliant::Problem& other) {
  EXPECT_EQ(own.dims, other.dims);
  EXPECT_EQ(own.tensors, other.tensors);
  EXPECT_EQ(own.levels, other.levels);
  EXPECT_EQ(own.output, other.output);
  EXPECT_EQ(own.size, other.size);
  EXPECT_EQ(own.macs, other.macs);
  EXPECT_EQ(own.coupled, other.coupled);
  EXPECT_EQ(own.simple, other.simple);
  EXPECT_EQ(front_of(own.simple_words, own.tensors), front_of(other.simple_words, own.tensors));
  EXPECT_EQ(own.affine_dims, other.affine_dims);
  EXPECT_EQ(own.sliding, other.sliding);
  EXPECT_EQ(front_of(own.tensor_words, own.tensors), front_of(other.tensor_words, own.tensors));
  EXPECT_EQ(own.summing, other.summing);
  EXPECT_EQ(own.is_memory, other.is_memory);
  EXPECT_EQ(own.innermost_memory, other.innermost_memory);
  EXPECT_EQ(own.capacity, other.capacity);
  EXPECT_EQ(own.read_pj, other.read_pj);
  EXPECT_EQ(own.write_pj, other.write_pj);
  EXPECT_EQ(own.update_pj, other.update_pj);
  EXPECT_EQ(own.element_words, other.element_words);
  EXPECT_EQ(own.finished_saves, other.finished_saves);
  EXPECT_EQ(own.fanouts, other.fanouts);
  EXPECT_EQ(own.networks, other.networks);
  EXPECT_EQ(own.network_pj, other.network_pj);
  EXPECT_EQ(own.sharing, other.sharing);
  EXPECT_EQ(own.sharing_equal, other.sharing_equal);
  EXPECT_EQ(own.uniting, other.uniting);
  EXPECT_EQ(own.network, other.network);
  EXPECT_EQ(own.busy_cycles, other.busy_cycles);
  EXPECT_DOUBLE_EQ(own.leak_pj_per_cycle_total, other.leak_pj_per_cycle_total);
  ASSERT_EQ(own.ports.size(), other.ports.size());
  for (std::size_t i = 0; i < own.ports.size(); ++i) {
    const Port& a = own.ports[i];
    const pliant::Port& b = other.ports[i];
    EXPECT_TRUE(a.level == b.level && a.reads == b.reads && a.writes == b.writes && a.bandwidth == b.bandwidth &&
                a.stationary == b.stationary && a.shift == b.shift && a.skew == b.skew && a.once == b.once)
        << b.name;
  }
  for (int x = 0; x < own.tensors; ++x) {
    const auto& of = own.affine[static_cast<std::size_t>(x)];
    const auto& beside = other.affine[static_cast<std::size_t>(x)];
    ASSERT_EQ(of.size(), beside.size());
    for (std::size_t r = 0; r < of.size(); ++r) {
      std::map<int, Count> a, b;
      for (int i = 0; i < of[r].terms; ++i) a[of[r].dim[static_cast<std::size_t>(i)]] = of[r].coefficient[i];
      for (int i = 0; i < beside[r].terms; ++i) b[beside[r].dim[i]] = beside[r].coefficient[i];
      EXPECT_EQ(a, b);
    }
  }
}

TEST(OwnProblem, OfRandomTasksIsThatOfTheCostModel) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const tests::RandomCase random = tests::random_case(seed, {.most_mappings = 3'000,
                                                               .holes = seed % 6 == 0,
                                                               .buses = seed % 3 == 0,
                                                               .residents = seed % 4 == 0,
                                                               .widths = seed % 2 == 0,
                                                               .networks = seed % 5 == 0,
                                                               .arrays = seed % 5 == 1});
    SCOPED_TRACE(random.text);
    expect_same(Problem(random.task.layer, random.task.accelerator),
                pliant::Problem(random.task.layer, random.task.accelerator));
  }
}

/// By listing all indices.
std::size_t listed_elements(const Tensor& tensor, const std::array<Count, kMaxDims>& tile, std::size_t dims) {
  std::set<std::vector<Count>> seen;
  std::vector<Count> at(dims, 0);
  while (true) {
    std::vector<Count> index;
    for (const Rank& rank : tensor.ranks) {
      Count sum = 0;
      for (const Term& term : rank.terms) sum += term.coefficient * at[static_cast<std::size_t>(term.dim)];
      index.push_back(sum);
    }
    seen.insert(std::move(index));
    std::size_t d = 0;
    while (d < dims && ++at[d] == tile[d]) at[d++] = 0;
    if (d == dims) return seen.size();
  }
}

TEST(TileElements, AreAsManyAsAreListed) {
  int tiles = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const tests::RandomCase random = tests::random_case(seed, {.most_mappings = 3'000, .holes = seed % 2 == 0});
    const Layer& layer = random.task.layer;
    std::vector<Count> sizes;
    for (const Dim& dim : layer.dims) sizes.push_back(dim.size);
    const TileElements distinct(layer, Conventions::Footprint::kDistinct, sizes);
    std::array<Count, kMaxDims> tile{};
    for (std::size_t d = 0; d < sizes.size(); ++d) tile[d] = 1 + static_cast<Count>((seed * 7 + d * 5) % sizes[d]);
    for (std::size_t x = 0; x < layer.tensors.size(); ++x) {
      const TileElements::Elements found = distinct.of(static_cast<int>(x), tile);
      EXPECT_TRUE(found.exactly);
      EXPECT_EQ(found.fewest, static_cast<double>(listed_elements(layer.tensors[x], tile, sizes.size())))
          << random.text;
      ++tiles;
    }
  }
  EXPECT_GT(tiles, 800);
}

}  // namespace
}  // namespace pliant::audit
