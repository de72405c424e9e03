// SPDX-License-Identifier: Apache-2.0
// The mapper `goma`: its solver against every mapping of a small problem, and what it refuses.
#include "dse/mappers/goma/goma_mapper.h"

#include <gtest/gtest.h>

#include "core/input/load.h"
#include "dse/mappers/goma/solver.h"

namespace pliant {
namespace {

GomaProblem small_problem() {
  GomaProblem problem;
  problem.size = {8, 6, 4};
  problem.units = 4;
  problem.sram_words = 40;
  problem.regfile_words = 6;
  problem.energies = {.dram_read = 200,
                      .dram_write = 190,
                      .sram_read = 6,
                      .sram_write = 7,
                      .reg_read = 0.5,
                      .reg_write = 0.6,
                      .mac = 0.3};
  return problem;
}

bool fits(const std::array<bool, 3>& kept, const std::array<double, 3>& tile, double words) {
  double sum = 0;
  for (std::size_t d = 0; d < 3; ++d)
    if (kept[d]) sum += tile[(d + 1) % 3] * tile[(d + 2) % 3];
  return sum <= words;
}

/// Every chain of divisors of every axis, every walking axis, every bypass.
double least_of_all(const GomaProblem& problem) {
  struct Chain {
    double sram, array, regfile;
  };
  std::array<std::vector<Chain>, 3> chains;
  for (std::size_t d = 0; d < 3; ++d)
    for (Count sram = 1; sram <= problem.size[d]; ++sram)
      for (Count array = 1; array <= sram; ++array)
        for (Count regfile = 1; regfile <= array; ++regfile)
          if (problem.size[d] % sram == 0 && sram % array == 0 && array % regfile == 0)
            chains[d].push_back({static_cast<double>(sram), static_cast<double>(array), static_cast<double>(regfile)});
  double least = 1e300;
  GomaMapping m;
  for (std::size_t d = 0; d < 3; ++d) m.tile[0][d] = static_cast<double>(problem.size[d]);
  for (const Chain& x : chains[0])
    for (const Chain& y : chains[1])
      for (const Chain& z : chains[2]) {
        m.tile[1] = {x.sram, y.sram, z.sram};
        m.tile[2] = {x.array, y.array, z.array};
        m.tile[3] = {x.regfile, y.regfile, z.regfile};
        double units = 1;
        for (std::size_t d = 0; d < 3; ++d) units *= m.tile[2][d] / m.tile[3][d];
        if (units != static_cast<double>(problem.units)) continue;
        for (int choice = 0; choice < 9 * 64; ++choice) {
          m.walking = {choice % 3, choice / 3 % 3};
          for (std::size_t d = 0; d < 3; ++d) {
            m.in_sram[d] = (choice / 9 >> d & 1) != 0;
            m.in_regfile[d] = (choice / 72 >> d & 1) != 0;
          }
          if (fits(m.in_sram, m.tile[1], problem.sram_words) && fits(m.in_regfile, m.tile[3], problem.regfile_words))
            least = std::min(least, goma_energy(m, problem.energies, as_published(m)));
        }
      }
  return least;
}

TEST(GomaMapper, TheSolverFindsTheLeastClosedForm) {
  for (const double sram : {12.0, 40.0, 1000.0})
    for (const double regfile : {0.0, 2.0, 6.0}) {
      GomaProblem problem = small_problem();
      problem.sram_words = sram;
      problem.regfile_words = regfile;
      const std::optional<GomaOptimum> optimum = solve_goma(problem);
      ASSERT_TRUE(optimum);
      EXPECT_NEAR(optimum->energy_pj, least_of_all(problem), 1e-9 * optimum->energy_pj) << sram << ", " << regfile;
      EXPECT_NEAR(optimum->energy_pj, goma_energy(optimum->mapping, problem.energies, as_published(optimum->mapping)),
                  1e-9 * optimum->energy_pj);
    }
}

TEST(GomaMapper, AllUnitsAreInUseOrNothingIsFound) {
  GomaProblem problem = small_problem();
  problem.units = 5;  // divides no size
  EXPECT_FALSE(solve_goma(problem));
}

TEST(GomaMapper, OnItsTemplateTheModelPricesALegalMapping) {
  const Library library(std::filesystem::path(PLIANT_SOURCE_DIR) / "configs");
  const Accelerator accelerator = load_accelerator(library, "goma_eyeriss");
  const Layer gemm = make_gemm("gemm", {.M = 64, .N = 64, .K = 128});
  const Task task{gemm, accelerator, accelerator.flexibility_of(gemm), Factorization::kPerfect, Objective::kEdp};
  const SearchResult found = run_mapper(*make_mapper("goma"), task, {});
  ASSERT_TRUE(found.mapping);
  EXPECT_FALSE(found.certified);
  EXPECT_EQ(found.totals.cycles, 64.0 * 64 * 128 / 256) << "all 256 units at work";
  EXPECT_GE(found.value, run_mapper(*make_mapper("exact"), task, {}).value * (1 - 1e-12));
}

TEST(GomaMapper, OtherLayersAndAcceleratorsAreRefused) {
  const Library library(std::filesystem::path(PLIANT_SOURCE_DIR) / "configs");
  const auto problem_with = [&](const char* name, const Layer& layer) {
    const Accelerator accelerator = load_accelerator(library, name);
    try {
      run_mapper(*make_mapper("goma"), {layer, accelerator, accelerator.flexibility_of(layer)}, {});
    } catch (const InputError& error) {
      return error.diagnostics().front().text();
    }
    return std::string();
  };
  EXPECT_NE(problem_with("eyeriss", make_gemm("g", {.M = 4, .N = 4, .K = 4})).find("is not GOMA's template"),
            std::string::npos);
  EXPECT_NE(problem_with("goma_eyeriss", make_conv("c", {.M = 4, .C = 4, .P = 4, .Q = 4})).find("is no GEMM"),
            std::string::npos);
}

}  // namespace
}  // namespace pliant
