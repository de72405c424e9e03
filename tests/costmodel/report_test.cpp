// SPDX-License-Identifier: Apache-2.0
// What is always true of a priced mapping, and that a number which breaks it is noticed.
#include "costmodel/report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/input/load.h"

namespace pliant {
namespace {

class Priced : public ::testing::Test {
 protected:
  Priced() {
    Mapping mapping = empty_mapping(layer_, accelerator_);
    mapping.levels[0].temporal = {{layer_.find_dim("M"), 16}, {layer_.find_dim("K"), 16}, {layer_.find_dim("N"), 16}};
    nest_.load(flatten(problem_, mapping));
    totals_ = nest_.price();
  }
  const Library library_{PLIANT_SOURCE_DIR "/configs"};
  const Accelerator accelerator_ = load_accelerator(library_, "eyeriss");
  const Layer layer_ = make_gemm("gemm", {.M = 16, .N = 16, .K = 16});
  const Problem problem_{layer_, accelerator_};
  Nest nest_{problem_};
  Totals totals_;
};

TEST_F(Priced, HoldsAsPriced) { EXPECT_EQ(broken_invariant(nest_, totals_), ""); }

TEST_F(Priced, FewerCyclesThanTheComputeBound) {
  totals_.cycles = problem_.macs / problem_.built[problem_.levels] / 2;
  EXPECT_NE(broken_invariant(nest_, totals_).find("compute bound"), std::string::npos);
}

TEST_F(Priced, LessEnergyThanTheMacs) {
  totals_.energy_pj = problem_.macs * problem_.mac_pj / 2;
  EXPECT_NE(broken_invariant(nest_, totals_).find("energy"), std::string::npos);
  totals_.energy_pj = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(broken_invariant(nest_, totals_), "");
}

TEST_F(Priced, MoreThanEveryUnitBusy) {
  totals_.utilization = 1.01;
  EXPECT_NE(broken_invariant(nest_, totals_).find("utilization"), std::string::npos);
}

TEST_F(Priced, NotFinite) {
  totals_.energy_pj = std::numeric_limits<double>::infinity();
  EXPECT_NE(broken_invariant(nest_, totals_).find("not finite"), std::string::npos);
}

TEST_F(Priced, BoundByNamesLevelAndDirection) {
  Mapping mapping = empty_mapping(layer_, accelerator_);
  mapping.levels[0].temporal = {{layer_.find_dim("M"), 16}, {layer_.find_dim("K"), 16}, {layer_.find_dim("N"), 16}};
  Accelerator narrow = accelerator_;
  narrow.levels[0].memory().read_words_per_cycle = 0.25;
  EXPECT_EQ(price(layer_, narrow, mapping).bound_by, "DRAM read");
  narrow.levels[0].memory().read_words_per_cycle = 1000;
  narrow.levels[0].memory().write_words_per_cycle = 0.125;
  const CostReport slow = price(layer_, narrow, mapping);
  EXPECT_EQ(slow.bound_by, "DRAM write");
  EXPECT_EQ(slow.totals.cycles, slow.levels[0].write_cycles);
  narrow.levels[0].memory().write_words_per_cycle.reset();
  EXPECT_EQ(price(layer_, narrow, mapping).bound_by, "compute");
}

}  // namespace
}  // namespace pliant
