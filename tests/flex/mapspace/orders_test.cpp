// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/orders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>

#include "core/legality.h"

namespace pliant {
namespace {

Layer plain_conv() { return make_conv("conv", {.M = 8, .C = 8, .P = 8, .Q = 8, .R = 3, .S = 3}); }

/// All permutations, grouped by the three conditions as the paper words them.
std::size_t by_permutation(const Layer& layer, bool halo) {
  std::vector<int> order(layer.dims.size());
  std::iota(order.begin(), order.end(), 0);
  std::set<std::vector<std::tuple<std::size_t, int, std::set<int>>>> classes;
  do {
    std::vector<std::tuple<std::size_t, int, std::set<int>>> signature;
    for (std::size_t x = 0; x < layer.tensors.size(); ++x) {
      const DimSet coupled = layer.coupled(static_cast<int>(x));
      std::size_t k = 0;
      while ((coupled >> order[k] & 1) == 0) ++k;  // order[0] is the innermost loop
      bool affine = false;
      for (const Rank& rank : layer.tensors[x].ranks)
        for (const Term& term : rank.terms) affine |= term.dim == order[k] && rank.terms.size() > 1;
      signature.emplace_back(k, halo && affine ? order[k] : -1,
                             std::set<int>(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k)));
    }
    classes.insert(signature);
  } while (std::next_permutation(order.begin(), order.end()));
  return classes.size();
}

TEST(Orders, PlainConvolutionHasTwentyOne) {
  EXPECT_EQ(count_reuse_distinct_orders(plain_conv()), 21);
  EXPECT_EQ(count_reuse_distinct_orders(plain_conv(), false), 11);
}

TEST(Orders, GemmHasThree) {
  const Layer gemm = make_gemm("gemm", {.M = 8, .N = 8, .K = 8});
  EXPECT_EQ(count_reuse_distinct_orders(gemm), 3);
  EXPECT_EQ(count_reuse_distinct_orders(gemm, false), 3);
}

TEST(Orders, MatchAllPermutations) {
  const std::vector<Layer> layers{
      plain_conv(),
      make_gemm("gemm", {.M = 8, .N = 8, .K = 8}),
      make_gemm("batched", {.B = 4, .M = 8, .N = 8, .K = 8}),
      make_conv("batch", {.B = 2, .M = 8, .C = 8, .P = 8, .Q = 8, .R = 3, .S = 3}),
      make_conv("grouped", {.M = 8, .C = 8, .P = 8, .Q = 8, .R = 3, .S = 3, .groups = 2}),
      make_conv("depthwise", {.M = 8, .C = 8, .P = 8, .Q = 8, .R = 3, .S = 3, .groups = 8}),
      make_conv("transposed", {.M = 8, .C = 8, .P = 8, .Q = 8, .R = 3, .S = 3, .transposed = true})};
  for (const Layer& layer : layers)
    for (const bool halo : {true, false})
      EXPECT_EQ(count_reuse_distinct_orders(layer, halo), by_permutation(layer, halo)) << layer.name << halo;
}

TEST(Orders, DimsOfSizeOneDoNotLoop) {
  // A pointwise convolution is a GEMM with two dims for the rows: no window, no halo.
  const Layer pointwise = make_conv("pointwise", {.M = 8, .C = 8, .P = 8, .Q = 8});
  EXPECT_EQ(count_reuse_distinct_orders(pointwise), count_reuse_distinct_orders(pointwise, false));
}

/// Counts by asking the legality checker about every permutation.
Count by_checker(const Layer& layer, DimSet dims, const OrderRule& rule) {
  Accelerator accelerator;
  accelerator.levels = {{"DRAM", Memory{}}, {"MAC", Compute{}}};
  Flexibility flexibility;
  flexibility.levels.resize(2);
  flexibility.levels[0].order = rule;
  std::vector<int> order;
  for (std::size_t d = 0; d < layer.dims.size(); ++d)
    if (dims >> d & 1) order.push_back(static_cast<int>(d));
  Count allowed = 0;
  do {
    Mapping mapping = empty_mapping(layer, accelerator);
    for (const int d : order) mapping.levels[0].temporal.push_back({d, layer.dims[static_cast<std::size_t>(d)].size});
    const auto found = check_legality(layer, accelerator, flexibility, Factorization::kPerfect, mapping);
    allowed +=
        std::none_of(found.begin(), found.end(), [](const Violation& v) { return v.rule == Violation::Rule::kOrder; });
  } while (std::next_permutation(order.begin(), order.end()));
  return allowed;
}

TEST(Orders, AllowedOrdersMatchTheChecker) {
  const Layer layer = plain_conv();
  std::mt19937 random(11);
  for (int trial = 0; trial < 60; ++trial) {
    OrderRule rule;
    for (unsigned p = random() % 4; p-- > 0;) {
      OrderPattern pattern;
      if (random() % 3 == 0) {
        pattern.stationary = static_cast<Role>(random() % 3);
      } else {
        for (const Dim& dim : layer.dims)
          if (random() % 2 == 0) pattern.dims.push_back(dim.name);
        std::shuffle(pattern.dims.begin(), pattern.dims.end(), random);
        if (random() % 4 == 0) pattern.dims.push_back("Z");  // a dim the layer does not have
      }
      rule.allowed.push_back(pattern);
    }
    const auto dims = static_cast<DimSet>(random() % (1u << layer.dims.size()));
    ASSERT_EQ(count_orders(layer, dims, rule), by_checker(layer, dims, rule)) << "trial " << trial;
  }
}

}  // namespace
}  // namespace pliant
