// SPDX-License-Identifier: Apache-2.0
// After any sequence of changes the nest prices exactly what a fresh one prices: the same bits, not merely close.
#include <gtest/gtest.h>

#include <string>

#include "costmodel/nest.h"
#include "support/small_cases.h"

namespace pliant {
namespace {

using reference::Kind;
using reference::pick;
using reference::Random;

void expect_same(Nest& changed, const Problem& problem, const FlatMapping& mapping, const std::string& what) {
  Nest fresh(problem);
  fresh.load(mapping);
  const Totals expected = fresh.price(), found = changed.price();
  ASSERT_EQ(found.energy_pj, expected.energy_pj) << what;
  ASSERT_EQ(found.cycles, expected.cycles) << what;
  ASSERT_EQ(found.steps, expected.steps) << what;
  ASSERT_EQ(found.utilization, expected.utilization) << what;
  ASSERT_EQ(found.bound.port, expected.bound.port) << what;
  ASSERT_EQ(changed.transfers().size(), fresh.transfers().size()) << what;
  for (std::size_t i = 0; i < fresh.transfers().size(); ++i) {
    const Transfer &a = changed.transfers()[i], &b = fresh.transfers()[i];
    ASSERT_EQ(a.tensor, b.tensor) << what;
    ASSERT_EQ(a.parent, b.parent) << what;
    ASSERT_EQ(a.child, b.child) << what;
    ASSERT_EQ(a.served, b.served) << what;
    ASSERT_EQ(a.delivered, b.delivered) << what;
    ASSERT_EQ(a.first_parent, b.first_parent) << what;
    ASSERT_EQ(a.first_child, b.first_child) << what;
  }
  for (int l = 0; l < problem.levels; ++l) {
    ASSERT_EQ(changed.instances_peak(l), fresh.instances_peak(l)) << what;
    for (int x = 0; x < problem.tensors; ++x) ASSERT_EQ(changed.footprint(l, x), fresh.footprint(l, x)) << what;
  }
}

/// Takes one dim's bounds, one level's order or one level's bypass from another random mapping, then prices or not.
void change_randomly(Random& random, const Problem& problem, FlatMapping& now, Nest& nest, const FlatMapping& other) {
  switch (pick(random, 0, 2)) {
    case 0: {
      const int d = static_cast<int>(pick(random, 0, problem.dims - 1));
      std::array<Count, kMaxLevels> bounds{};
      for (int l = 0; l < problem.levels; ++l) bounds[l] = now.bound[l][d] = other.bound[l][d];
      nest.set_bounds(d, bounds.data());
      break;
    }
    case 1: {
      const int l = static_cast<int>(pick(random, 0, problem.levels - 1));
      if (!problem.is_memory[l]) break;
      for (int i = problem.dims - 1; i > 0; --i) std::swap(now.order[l][i], now.order[l][pick(random, 0, i)]);
      nest.set_order(l, now.order[l].data());
      break;
    }
    default: {
      const int l = static_cast<int>(pick(random, 0, problem.levels - 1));
      if (!problem.is_memory[l]) break;
      TensorSet elsewhere = 0;
      for (int k = 0; k < problem.levels; ++k)
        if (k != l && problem.is_memory[k]) elsewhere |= now.keeps[k];
      const TensorSet all = (TensorSet{1} << problem.tensors) - 1;
      now.keeps[l] = (static_cast<TensorSet>(random()) & all) | (all & ~elsewhere);  // kept somewhere
      nest.set_keeps(l, now.keeps[l]);
    }
  }
}

/// A preset, or any mixture of their rules.
Conventions conventions(const std::string& name, Random& random) {
  if (name != "mixed") return *Conventions::preset(name);
  Conventions mixed;
  for (std::size_t i = 0; i < convention_options().size(); ++i)
    set_convention(mixed, i, random() % convention_options()[i].values.size());
  return mixed;
}

class Incremental : public testing::TestWithParam<const char*> {};

TEST_P(Incremental, EqualsFresh) {
  Random random(7);
  for (int round = 0; round < 240; ++round) {
    const Kind kind = std::array{Kind::kGemm, Kind::kConv, Kind::kEinsum}[static_cast<std::size_t>(round % 3)];
    const Layer layer = reference::random_layer(random, kind, 5000);
    Accelerator accelerator = reference::random_accelerator(random, round % 2 == 0);
    reference::add_widths_and_networks(random, accelerator);
    accelerator.conventions = conventions(GetParam(), random);
    const Problem problem(layer, accelerator);
    // Perfect mappings, imperfect ones, and changes from one to the other.
    const Factorization rule = round % 4 == 0 ? Factorization::kRuby : Factorization::kPerfect;
    FlatMapping now = flatten(problem, reference::random_mapping(random, layer, accelerator, Factorization::kPerfect));
    Nest nest(problem);
    nest.load(now);
    for (int step = 0; step < 40; ++step) {
      const FlatMapping other = flatten(problem, reference::random_mapping(random, layer, accelerator, rule));
      const Count changes = pick(random, 1, 3);
      for (Count c = 0; c < changes; ++c) change_randomly(random, problem, now, nest, other);
      expect_same(nest, problem, now, "round " + std::to_string(round) + ", step " + std::to_string(step));
      if (HasFatalFailure()) return;
      if (step == 20) {
        now = other;
        nest.load(now);
      }
    }
  }
}

// A mapping built up dim by dim is imperfect until the last one is set, and is not priced before.
TEST_P(Incremental, DimByDimFromNothing) {
  Random random(11);
  for (int round = 0; round < 300; ++round) {
    const Layer layer = reference::random_layer(random, round % 2 == 0 ? Kind::kGemm : Kind::kConv, 5000);
    Accelerator accelerator = reference::random_accelerator(random, true);
    reference::add_widths_and_networks(random, accelerator);
    accelerator.conventions = conventions(GetParam(), random);
    const Problem problem(layer, accelerator);
    const FlatMapping wanted =
        flatten(problem, reference::random_mapping(random, layer, accelerator, Factorization::kPerfect));
    Nest nest(problem);
    for (int d = 0; d < problem.dims; ++d) {
      std::array<Count, kMaxLevels> bounds{};
      for (int l = 0; l < problem.levels; ++l) bounds[l] = wanted.bound[l][d];
      nest.set_bounds(d, bounds.data());
    }
    for (int l = 0; l < problem.levels; ++l) {
      if (!problem.is_memory[l]) continue;
      nest.set_order(l, wanted.order[l].data());
      nest.set_keeps(l, wanted.keeps[l]);
    }
    expect_same(nest, problem, wanted, "round " + std::to_string(round));
    if (HasFatalFailure()) return;
  }
}

void set_bounds(FlatMapping& now, Nest& nest, int d, const FlatMapping& from) {
  std::array<Count, kMaxLevels> bounds{};
  for (int l = 0; l < nest.problem().levels; ++l) bounds[l] = now.bound[l][d] = from.bound[l][d];
  nest.set_bounds(d, bounds.data());
}

// Bounds that are set again as they were are no change; bounds that come back are none in the end, whether they were
// priced in between or not.
TEST_P(Incremental, SameBoundsAndBoundsThatComeBack) {
  Random random(13);
  for (int round = 0; round < 240; ++round) {
    const Kind kind = std::array{Kind::kConv, Kind::kEinsum, Kind::kGemm}[static_cast<std::size_t>(round % 3)];
    const Layer layer = reference::random_layer(random, kind, 5000);
    Accelerator accelerator = reference::random_accelerator(random, round % 2 == 0);
    reference::add_widths_and_networks(random, accelerator);
    accelerator.conventions = conventions(GetParam(), random);
    const Problem problem(layer, accelerator);
    const Factorization rule = round % 4 == 0 ? Factorization::kRuby : Factorization::kPerfect;
    const auto draw = [&] { return flatten(problem, reference::random_mapping(random, layer, accelerator, rule)); };
    FlatMapping now = draw();
    Nest nest(problem);
    nest.load(now);
    for (int step = 0; step < 30; ++step) {
      const int d = static_cast<int>(pick(random, 0, problem.dims - 1));
      const FlatMapping before = now, other = draw();
      const Count way = pick(random, 0, 3);
      if (way != 0) set_bounds(now, nest, d, other);
      if (way == 2) nest.price();
      if (way != 1) set_bounds(now, nest, d, before);
      expect_same(nest, problem, now, "round " + std::to_string(round) + ", step " + std::to_string(step));
      if (HasFatalFailure()) return;
    }
  }
}

// The mapping without loops that a nest starts from covers one index of every dim, and saying so again changes nothing.
TEST(NestWithoutLoops, IsImperfectWhereDimsAreLarger) {
  Random random(17);
  for (int round = 0; round < 60; ++round) {
    const Layer layer = reference::random_layer(random, round % 2 == 0 ? Kind::kGemm : Kind::kConv, 5000);
    const Problem problem(layer, reference::random_accelerator(random, true));
    Nest nest(problem);
    std::array<Count, kMaxLevels> ones{};
    ones.fill(1);
    for (int d = 0; d < problem.dims; ++d) {
      if (round % 4 < 2) nest.set_bounds(d, ones.data());
      ASSERT_EQ(nest.loops().imperfect_dims() >> d & 1U, problem.size[d] != 1 ? 1U : 0U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, Incremental, testing::Values("physical", "timeloop", "quickflow", "mixed"),
                         [](const testing::TestParamInfo<const char*>& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace pliant
