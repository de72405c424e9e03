// SPDX-License-Identifier: Apache-2.0
// The mappings that contradict published certificates, written down: each is in GOMA's own map-space, and its closed
// form, as published and as repaired, is below the value that was certified as optimal.
#include "dse/studies/goma_certificates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dse/mappers/goma/closed_form.h"
#include "support/shipped_library.h"

namespace pliant {
namespace {

struct Counterexample {
  const char* accelerator;
  GomaMapping mapping;
  double pj_per_mac;
};

/// Tiles of the whole, the SRAM, the array and a register file; x walks in both stages.
GomaMapping mapping_of(std::array<std::array<double, 3>, 4> tile, std::array<bool, 3> in_sram,
                       std::array<bool, 3> in_regfile) {
  return {tile, {0, 0}, in_sram, in_regfile};
}

const std::vector<Counterexample>& counterexamples() {
  static const std::vector<Counterexample> all = {
      {"goma_a100",
       mapping_of({{{131072, 1024, 8192}, {16384, 1024, 8192}, {1, 1024, 4096}, {1, 64, 1}}}, {true, false, true},
                  {true, true, false}),
       0.277126392437},
      {"goma_a100",
       mapping_of({{{262144, 128, 32768}, {262144, 128, 32768}, {1, 128, 512}, {1, 1, 1}}}, {false, false, true},
                  {true, false, false}),
       0.4458067502518},
      {"goma_gemmini",
       mapping_of({{{1, 128256, 2048}, {1, 128256, 2048}, {1, 128256, 256}, {1, 128256, 1}}}, {false, false, true},
                  {false, true, false}),
       64.72536660405},
      {"goma_tpuv1",
       mapping_of({{{262144, 128, 32768}, {512, 128, 32768}, {512, 128, 32768}, {1, 1, 32768}}}, {true, false, false},
                  {false, false, true}),
       4.888045174324}};
  return all;
}

double words(const std::array<double, 3>& tile, const std::array<bool, 3>& held) {
  double sum = 0;
  for (std::size_t d = 0; d < 3; ++d)
    if (held[d]) sum += tile[(d + 1) % 3] * tile[(d + 2) % 3];  // the projection with normal d
  return sum;
}

TEST(GomaCertificates, CounterexamplesAreInTheMapSpaceAndBelow) {
  const std::vector<GomaOptimumRow> published = read_goma_optima(library());
  EXPECT_EQ(published.size(), 192U);
  std::size_t instances = 0;
  for (const Counterexample& one : counterexamples()) {
    const Accelerator accelerator = load_accelerator(library(), one.accelerator);
    const GomaMapping& m = one.mapping;
    double used = 1, macs = 1;
    for (std::size_t d = 0; d < 3; ++d) {
      for (std::size_t p = 1; p < 4; ++p) EXPECT_EQ(std::fmod(m.tile[p - 1][d], m.tile[p][d]), 0);
      used *= m.tile[2][d] / m.tile[3][d];
      macs *= m.tile[0][d];
    }
    EXPECT_EQ(used, static_cast<double>(accelerator.macs_units()));
    const auto room = [&](std::size_t level) {
      return static_cast<double>(*accelerator.levels[level].memory().capacity_words);
    };
    EXPECT_LE(words(m.tile[1], m.in_sram), room(1));
    EXPECT_LE(words(m.tile[3], m.in_regfile), room(3));
    const GomaEnergies energies = goma_energies(accelerator);
    EXPECT_NEAR(goma_energy(m, energies, as_published(m)) / macs, one.pj_per_mac, 1e-11 * one.pj_per_mac);
    EXPECT_NEAR(goma_energy(m, energies, as_walked(m)) / macs, one.pj_per_mac, 1e-11 * one.pj_per_mac);
    for (const GomaOptimumRow& row : published) {
      const auto size = [&](std::size_t d) { return static_cast<double>(row.layer.dims[d].size); };
      if (row.accelerator != one.accelerator || size(0) != m.tile[0][0] || size(1) != m.tile[0][1] ||
          size(2) != m.tile[0][2])
        continue;
      EXPECT_LT(one.pj_per_mac, row.published * (1 - 1e-6)) << row.workload << " " << row.gemm;
      ++instances;
    }
  }
  EXPECT_EQ(instances, 8U);
}

/// One that holds and one that does not, solved and audited here.
TEST(GomaCertificates, AreCheckedByTwoSearchesAndTheAuditor) {
  const Library shipped = library();
  const StudyContext context{shipped, {}, {}, true, 1, {}, {}};
  const std::vector<GomaOptimumRow> published = read_goma_optima(shipped);
  for (const bool holds : {true, false}) {
    const auto row = std::ranges::find_if(published, [&](const GomaOptimumRow& one) {
      return one.accelerator == "goma_a100" && one.gemm == "attn_context" &&
             one.workload == (holds ? "goma_llama3_3_70b_2k" : "goma_llama3_3_70b_32k");
    });
    ASSERT_NE(row, published.end());
    const GomaVerdict verdict = check_goma_optimum(context, *row, "");
    EXPECT_EQ(verdict.holds(row->published), holds);
    EXPECT_TRUE(verdict.audited);
    EXPECT_NEAR(verdict.exact, verdict.goma, 1e-11 * verdict.goma);
    EXPECT_LE(verdict.any_use, verdict.exact * (1 + 1e-11));
  }
}

}  // namespace
}  // namespace pliant
