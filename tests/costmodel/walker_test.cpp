// SPDX-License-Identifier: Apache-2.0
// Every count of the fast model equals the walked loop nest on random small layers, accelerators and mappings. The
// rules both follow are at the top of reference_walker.h. PLIANT_CASES=5000 walks as many of every kind.
#include <gtest/gtest.h>

#include <cstdlib>

#include "costmodel/nest.h"
#include "costmodel/report.h"
#include "support/agreement.h"

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

int number_of(int cases) {
  const char* many = std::getenv("PLIANT_CASES");
  return many != nullptr ? std::atoi(many) : cases;
}

class WalkedNest : public testing::TestWithParam<Case> {};

TEST_P(WalkedNest, AgreesWithTheModel) {
  const Case& c = GetParam();
  const Comparison comparison = compare_random(1, number_of(c.cases), c.kind, c.rule,
                                               *Conventions::preset(c.conventions), c.special_networks, 400);
  EXPECT_EQ(comparison.cases, number_of(c.cases));
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
                                         Case{"GemmTimeloopNetworks", Kind::kGemm, kPfm, "timeloop", true, 200},
                                         Case{"ConvTimeloopNetworks", Kind::kConv, kPfm, "timeloop", true, 500},
                                         Case{"EinsumTimeloopNetworks", Kind::kEinsum, kPfm, "timeloop", true, 500},
                                         Case{"GemmQuickflow", Kind::kGemm, kPfm, "quickflow", false, 200},
                                         Case{"ConvQuickflow", Kind::kConv, kPfm, "quickflow", false, 400},
                                         Case{"EinsumQuickflow", Kind::kEinsum, kPfm, "quickflow", false, 300},
                                         Case{"ConvQuickflowNetworks", Kind::kConv, kPfm, "quickflow", true, 500},
                                         Case{"EinsumQuickflowNetworks", Kind::kEinsum, kPfm, "quickflow", true, 500}),
                         [](const testing::TestParamInfo<Case>& tested) { return std::string(tested.param.name); });

/// Timeloop's rounding of stalls may add a cycle; apart from that it changes nothing, whatever else the conventions
/// say.
TEST(WalkedDemands, AgreeWithTheModel) {
  for (const Conventions::Drain drain :
       {Conventions::Drain::kCounted, Conventions::Drain::kFree, Conventions::Drain::kParentWrites}) {
    Conventions conventions;
    conventions.drain = drain;
    conventions.stall_rounding = Conventions::StallRounding::kDemandRatio;
    for (const Factorization rule : {kPfm, kRuby}) {
      const Comparison comparison = compare_random(5, number_of(200), Kind::kConv, rule, conventions, true, 300);
      EXPECT_EQ(comparison.cases, number_of(200));
      EXPECT_EQ(comparison.differing, 0) << comparison.first;
    }
  }
}

/// A network that can do more never costs more: without partial multicast no parent serves fewer words.
TEST(PartialMulticast, NeverCostsMore) {
  reference::Random random(11);
  int cheaper = 0;
  for (int i = 0; i < number_of(4000); ++i) {
    const Kind kind = i % 2 == 0 ? Kind::kConv : Kind::kEinsum;
    const Factorization rule = std::array{kPfm, kRuby}[static_cast<std::size_t>(i / 2 % 2)];
    const Layer layer = reference::random_layer(random, kind, 400);
    Accelerator accelerator = reference::random_accelerator(random, true);
    reference::add_widths_and_networks(random, accelerator);
    const std::vector<std::string> presets = Conventions::preset_names();
    accelerator.conventions = *Conventions::preset(presets[random() % presets.size()]);
    const Mapping mapping = reference::random_mapping(random, layer, accelerator, rule);
    const auto words = [&] {
      const Problem problem(layer, accelerator);
      Nest nest(problem);
      nest.load(flatten(problem, mapping));
      nest.price();
      return std::vector<Transfer>(nest.transfers().begin(), nest.transfers().end());
    };
    const std::vector<Transfer> with = words();
    for (Level& level : accelerator.levels)
      if (level.is_fanout() && random() % 2 == 0) level.fanout().partial_multicast = false;
    const std::vector<Transfer> without = words();
    ASSERT_EQ(with.size(), without.size());
    for (std::size_t k = 0; k < with.size(); ++k) {
      ASSERT_LE(with[k].served, without[k].served) << "case " << i << ", pair " << k;
      cheaper += with[k].served < without[k].served ? 1 : 0;
    }
  }
  EXPECT_GT(cheaper, 20);
}

/// Conventions may be mixed, remainders may be anywhere: what must always be true is true.
TEST(AnyConventions, BreakNoInvariant) {
  reference::Random random(3);
  const std::vector<ConventionOption>& options = convention_options();
  for (int i = 0; i < number_of(3000); ++i) {
    const Kind kind = std::array{Kind::kGemm, Kind::kConv, Kind::kEinsum}[static_cast<std::size_t>(i % 3)];
    const Factorization rule = std::array{kPfm, kRubyS, kRubyT, kRuby}[static_cast<std::size_t>(i / 3 % 4)];
    const Layer layer = reference::random_layer(random, kind, 400);
    Accelerator accelerator = reference::random_accelerator(random, true);
    reference::add_widths_and_networks(random, accelerator);
    const std::vector<std::string> presets = Conventions::preset_names();
    accelerator.conventions = *Conventions::preset(presets[random() % presets.size()]);
    if (i % 2 == 0)
      for (std::size_t o = 0; o < options.size(); ++o)
        if (random() % 3 == 0) set_convention(accelerator.conventions, o, random() % options[o].values.size());
    const Problem problem(layer, accelerator);
    Nest nest(problem);
    nest.load(flatten(problem, reference::random_mapping(random, layer, accelerator, rule)));
    const Totals totals = nest.price();
    ASSERT_EQ(broken_invariant(nest, totals), "") << "case " << i;
  }
}

}  // namespace
}  // namespace pliant
