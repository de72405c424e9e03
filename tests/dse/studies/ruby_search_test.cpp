// SPDX-License-Identifier: Apache-2.0
// The Ruby paper's searches: curves over samples, where they cross, and the best of several threads.
#include <gtest/gtest.h>

#include "dse/studies/best_of_searches.h"
#include "dse/studies/ruby_toys.h"
#include "dse/studies/study_table.h"
#include "dse/studies/study_task.h"
#include "support/shipped_library.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

TEST(SearchCurves, CrossWhereOneStaysBelow) {
  EXPECT_EQ(samples_until_below({5, 3, 1, 1}, {4, 4, 2, 2}), 2U);
  EXPECT_EQ(samples_until_below({5, 3, 3, 1}, {4, 4, 2, 2}), 4U);  // below at 2, above again at 3
  EXPECT_EQ(samples_until_below({3, 3}, {4, 4}), 1U);
  EXPECT_EQ(samples_until_below({3, 2}, {4, 2}), std::nullopt);  // ends level with it
}

/// After k samples a curve has what a search of k samples finds.
TEST(SearchCurves, EveryPointIsAShorterSearch) {
  const TemporaryFolder folder;

  const StudyContext context{library(), folder.path(), folder.path() / "cache", false, 2, {}, {}};
  const Accelerator toy = load_accelerator(library(), "ruby_toy_6");
  const Layer layer = parse_layer("gemm:M=30,N=20,K=12", "test");
  constexpr std::size_t kSamples = 400;
  const SearchCurve curve = random_search_curve(context, toy, layer, Factorization::kRuby, 2, kSamples);
  ASSERT_EQ(curve.size(), kSamples);
  EXPECT_LT(curve.back(), curve.front());
  for (const std::size_t samples : {std::size_t{1}, std::size_t{7}, std::size_t{100}, kSamples}) {
    std::vector<double> found;
    for (const std::uint64_t seed : {1, 2}) {
      StudyTask task{.layer = layer, .factorization = Factorization::kRuby};
      task.mapper = "random";
      task.seed = seed;
      task.evaluations = samples;
      found.push_back(solve(context, toy, task).value);
    }
    EXPECT_DOUBLE_EQ(curve[samples - 1], geometric_mean(found)) << samples;
  }
}

TEST(BestOfSearches, IsTakenLayerByLayer) {
  const auto search = [](double first, double second) {
    DataTable table = table_of({"layer", "rule", "count", "edp_pj_cycles", "energy_pj", "runtime_cycles"});
    // Energies are 2 and 4, so cycles are EDP over those.
    add_row(table, std::string("a"), std::string("x"), std::int64_t{3}, first, 2.0, first / 2);
    add_row(table, std::string("b"), std::string("x"), std::int64_t{1}, second, 4.0, second / 4);
    add_row(table, std::string("a"), std::string("y"), std::int64_t{3}, 1.0, 1.0, 1.0);
    return Rows(table);
  };
  BestOfSearches both, one;
  both.add(search(20, 80), {{"rule", "x"}});
  both.add(search(40, 40), {{"rule", "x"}});
  EXPECT_DOUBLE_EQ(both.network_edp(), (3 * 2 + 4) * (3 * 10 + 10));  // 20 of the first, 40 of the second
  one.add(search(20, 60), {{"rule", "x"}});
  EXPECT_EQ(one.layers_worse_than(both), 1U);
  EXPECT_EQ(both.layers_worse_than(one), 0U);
  EXPECT_THROW(one.add(search(1, 1), {{"rule", "y"}}), StudyError);
}

}  // namespace
}  // namespace pliant
