// SPDX-License-Identifier: Apache-2.0
// Pricing perfect mappings allocates nothing, whatever is changed. This program counts every call of operator new.
#include <atomic>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "costmodel/nest.h"
#include "support/small_cases.h"

// operator new below takes its memory from malloc, so free is its counterpart; g++ cannot see that when it inlines.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

namespace {
std::atomic<long> allocations{0};
}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace pliant {
namespace {

using reference::Kind;
using reference::Random;

class Allocations : public testing::TestWithParam<const char*> {};

TEST_P(Allocations, NoneWhilePricing) {
  const long at_start = allocations;
  ASSERT_GT(allocations, 0) << "the counting operator new is not in use";
  Random random(3);
  int priced = 0;
  for (int round = 0; round < 200; ++round) {
    const Kind kind = std::array{Kind::kGemm, Kind::kConv, Kind::kEinsum}[static_cast<std::size_t>(round % 3)];
    const Layer layer = reference::random_layer(random, kind, 1'000'000);
    Accelerator accelerator = reference::random_accelerator(random, round % 2 == 0);
    accelerator.conventions = *Conventions::preset(GetParam());
    const Problem problem(layer, accelerator);
    const FlatMapping one =
        flatten(problem, reference::random_mapping(random, layer, accelerator, Factorization::kPerfect));
    const FlatMapping other =
        flatten(problem, reference::random_mapping(random, layer, accelerator, Factorization::kPerfect));
    Nest nest(problem);
    const long before = allocations;
    double sum = 0;
    nest.load(one);
    sum += nest.price().energy_pj;
    for (int d = 0; d < problem.dims; ++d) {
      std::array<Count, kMaxLevels> bounds{};
      for (int l = 0; l < problem.levels; ++l) bounds[l] = other.bound[l][d];
      nest.set_bounds(d, bounds.data());
      sum += nest.price().energy_pj;
    }
    for (int l = 0; l < problem.levels; ++l) {
      if (!problem.is_memory[l]) continue;
      nest.set_order(l, other.order[l].data());
      sum += nest.price().energy_pj;
      if (other.keeps[l] != 0) nest.set_keeps(l, one.keeps[l] | other.keeps[l]);
      sum += nest.price().energy_pj;
      for (int x = 0; x < problem.tensors; ++x) sum += nest.footprint(l, x);
    }
    for (const Transfer& words : nest.transfers()) sum += words.served;
    ASSERT_EQ(allocations, before) << "round " << round;
    ASSERT_GT(sum, 0);
    ++priced;
  }
  EXPECT_EQ(priced, 200);
  EXPECT_GT(allocations, at_start);
}

INSTANTIATE_TEST_SUITE_P(Presets, Allocations, testing::Values("physical", "timeloop", "quickflow"),
                         [](const testing::TestParamInfo<const char*>& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace pliant
