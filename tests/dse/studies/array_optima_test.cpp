// SPDX-License-Identifier: Apache-2.0
// Optima that are taken over from larger arrays are those that a search on the array itself proves.
#include "dse/studies/array_optima.h"

#include <gtest/gtest.h>

#include <string>

#include "dse/studies/solved_once.h"
#include "support/shipped_library.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

StudyContext context_in(const TemporaryFolder& folder) {
  return {library(), folder.path(), folder.path() / "cache", false, 1, {}, {}};
}

Accelerator array_of(Count rows, Count cols) {
  return load_accelerator(library(), "ruby_eyeriss", {{"rows", std::to_string(rows)}, {"cols", std::to_string(cols)}});
}

TEST(ArrayOptima, AreThoseOfASearchOnTheArrayItself) {
  const TemporaryFolder folder;
  const StudyContext context = context_in(folder);
  const Layer layer = parse_layer("conv:M=48,C=20,P=14,Q=14,R=3,S=3", "test");
  ArrayOptima optima(context, layer);
  int asked = 0;
  for (Count rows = 9; rows >= 3; rows -= 2)
    for (Count cols = 12; cols >= 7; --cols) {
      const Accelerator array = array_of(rows, cols);
      const ArrayOptima::OnArray found = optima.on(array, rows, cols);
      const auto edp = [&](const std::string& text, Factorization rule) {
        const SearchResult best = solve(context, array, {.layer = parse_layer(text, "test"), .factorization = rule});
        EXPECT_TRUE(best.certified);
        return best.value;
      };
      EXPECT_DOUBLE_EQ(found.perfect.edp, edp(layer.written_as, Factorization::kPerfect)) << rows << "x" << cols;
      EXPECT_DOUBLE_EQ(found.ruby_s.edp, edp(layer.written_as, Factorization::kRubyS)) << rows << "x" << cols;
      const auto up = [](Count size, Count side) { return std::to_string((size + side - 1) / side * side); };
      const std::string padded =
          "conv:M=" + up(48, cols) + ",C=" + up(20, rows) + ",P=14,Q=" + up(14, cols) + ",R=3,S=3";
      EXPECT_DOUBLE_EQ(found.always_padded.edp, edp(padded, Factorization::kPerfect)) << rows << "x" << cols;
      EXPECT_LE(found.padded.edp, std::min(found.perfect.edp, found.always_padded.edp));
      asked += 9;
    }
  EXPECT_LT(optima.searches(), asked * 2 / 3) << "nothing was taken over";
}

TEST(SolvedOnce, AnswersTheSameQuestionOnceAndOthersByThemselves) {
  const TemporaryFolder folder;
  const StudyContext context = context_in(folder);
  SolvedOnce solved;
  const Layer layer = parse_layer("conv:M=16,C=8,P=7,Q=7,R=3,S=3", "test");
  Layer named = layer;
  named.name = "another name";
  const SearchResult first = solved.solve(context, array_of(4, 7), {.layer = layer});
  const SearchResult again = solved.solve(context, array_of(4, 7), {.layer = named});
  EXPECT_EQ(first.cpu_seconds, again.cpu_seconds) << "it was searched again";
  EXPECT_EQ(first.value, again.value);
  EXPECT_GT(solved.solve(context, array_of(2, 7), {.layer = layer}).value, first.value);
  const SearchResult energy = solved.solve(context, array_of(4, 7), {.layer = layer, .objective = Objective::kEnergy});
  EXPECT_LE(energy.totals.energy_pj, first.totals.energy_pj);
  EXPECT_EQ(energy.value, energy.totals.energy_pj);
}

}  // namespace
}  // namespace pliant
