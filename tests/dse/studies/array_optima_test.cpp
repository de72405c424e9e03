// SPDX-License-Identifier: Apache-2.0
// Optima that are taken over from larger arrays are those that a search on the array itself proves.
#include "dse/studies/array_optima.h"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace pliant
