// SPDX-License-Identifier: Apache-2.0
// Random tilings of GOMA's template: legal, all PEs in use, and the form with both repairs equals the model on them.
#include "dse/studies/goma_fidelity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/input/load.h"
#include "support/shipped_library.h"

namespace pliant {
namespace {

TEST(GomaFidelity, RandomTilingsAreNestedFillTheArrayAndFit) {
  const Accelerator accelerator = load_accelerator(library(), "goma_eyeriss");
  std::set<GomaTiling> different;
  for (const char* text : {"gemm:M=1024,N=2048,K=2048", "gemm:M=1024,N=1024,K=64", "gemm:M=96,N=64,K=1024"}) {
    const Layer gemm = parse_layer(text, "test");
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const GomaTiling tiling = random_goma_tiling(gemm, accelerator, seed);
      EXPECT_EQ(tiling, random_goma_tiling(gemm, accelerator, seed));
      different.insert(tiling);
      double units = 1;
      for (std::size_t d = 0; d < 3; ++d) {
        EXPECT_EQ(tiling[0][d], static_cast<double>(gemm.dims[d].size));
        for (std::size_t p = 1; p < 4; ++p) EXPECT_EQ(std::fmod(tiling[p - 1][d], tiling[p][d]), 0);
        units *= tiling[2][d] / tiling[3][d];
      }
      EXPECT_EQ(units, 256);
      const auto words = [](const std::array<double, 3>& t) { return t[0] * t[1] + t[1] * t[2] + t[2] * t[0]; };
      EXPECT_LE(words(tiling[1]), 162 * 1024);
      EXPECT_LE(words(tiling[3]), 424);
    }
  }
  EXPECT_GT(different.size(), 50U);
}

/// What the formula leaves out is said in closed_form.h: put in, nothing differs. The published form never does better.
TEST(GomaFidelity, TheRepairedFormIsTheModel) {
  const Accelerator accelerator = load_accelerator(library(), "goma_eyeriss");
  const Layer gemm = parse_layer("gemm:M=1024,N=512,K=2048", "test");
  GomaFidelity fidelity;
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    fidelity.add(gemm, accelerator, random_goma_tiling(gemm, accelerator, seed), all_goma_choices());
  EXPECT_EQ(fidelity.mappings(), 5 * 576);
  EXPECT_EQ(fidelity.repaired, fidelity.mappings());
  EXPECT_LT(fidelity.literal, fidelity.identical);
  EXPECT_LT(fidelity.identical, fidelity.mappings());
  EXPECT_GT(fidelity.mean_error(), 0);
}

}  // namespace
}  // namespace pliant
