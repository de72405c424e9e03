// SPDX-License-Identifier: Apache-2.0
// Every count of the fast model equals the walked loop nest on random small layers, accelerators and mappings. The
// rules both follow are at the top of reference_walker.h.
#include <gtest/gtest.h>

#include "agreement.h"

namespace pliant {
namespace {

using reference::compare_random;
using reference::Comparison;
using reference::Kind;

struct Case {
  const char* name;
  Kind kind;
  Factorization rule;
  const char* conventions;
  bool special_networks;
  int cases;
};

class WalkedNest : public testing::TestWithParam<Case> {};

TEST_P(WalkedNest, AgreesWithTheModel) {
  const Case& c = GetParam();
  const Comparison comparison =
      compare_random(1, c.cases, c.kind, c.rule, *Conventions::preset(c.conventions), c.special_networks, 400);
  EXPECT_EQ(comparison.cases, c.cases);
  EXPECT_EQ(comparison.differing, 0) << comparison.first;
}

constexpr auto kPfm = Factorization::kPerfect;
constexpr auto kRubyS = Factorization::kRubyS;
constexpr auto kRubyT = Factorization::kRubyT;
constexpr auto kRuby = Factorization::kRuby;

INSTANTIATE_TEST_SUITE_P(Random, WalkedNest,
                         testing::Values(Case{"GemmPerfect", Kind::kGemm, kPfm, "physical", true, 300},
                                         Case{"ConvPerfect", Kind::kConv, kPfm, "physical", false, 500},
                                         Case{"ConvPerfectNetworks", Kind::kConv, kPfm, "physical", true, 500},
                                         Case{"EinsumPerfect", Kind::kEinsum, kPfm, "physical", false, 500},
                                         Case{"EinsumPerfectNetworks", Kind::kEinsum, kPfm, "physical", true, 500},
                                         Case{"GemmSpatialRemainders", Kind::kGemm, kRubyS, "physical", true, 300},
                                         Case{"GemmTemporalRemainders", Kind::kGemm, kRubyT, "physical", true, 300},
                                         Case{"GemmRemainders", Kind::kGemm, kRuby, "physical", true, 300},
                                         Case{"ConvSpatialRemainders", Kind::kConv, kRubyS, "physical", true, 300},
                                         Case{"ConvTemporalRemainders", Kind::kConv, kRubyT, "physical", true, 300},
                                         Case{"ConvRemainders", Kind::kConv, kRuby, "physical", true, 500},
                                         Case{"EinsumRemainders", Kind::kEinsum, kRuby, "physical", true, 500},
                                         Case{"GemmTimeloop", Kind::kGemm, kPfm, "timeloop", false, 200},
                                         Case{"ConvTimeloop", Kind::kConv, kPfm, "timeloop", false, 400},
                                         Case{"EinsumTimeloop", Kind::kEinsum, kPfm, "timeloop", false, 300},
                                         Case{"GemmQuickflow", Kind::kGemm, kPfm, "quickflow", false, 200},
                                         Case{"ConvQuickflow", Kind::kConv, kPfm, "quickflow", false, 400},
                                         Case{"EinsumQuickflow", Kind::kEinsum, kPfm, "quickflow", false, 300}),
                         [](const testing::TestParamInfo<Case>& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace pliant
