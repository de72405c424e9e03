// SPDX-License-Identifier: Apache-2.0
#include "dse/import/export/export.h"

#include <gtest/gtest.h>

#include "core/input/load.h"
#include "costmodel/report.h"
#include "support/import_texts.h"
#include "support/small_cases.h"

namespace pliant {
namespace {

/// The files as if they had been written and named again.
Imported import_again(const std::vector<WrittenFile>& files) {
  std::vector<SourceFile> sources;
  for (const WrittenFile& file : files) sources.push_back({file.name, file.text});
  return import_sources("timeloop", sources, {});
}

void expect_same_numbers(const CostReport& ours, const CostReport& theirs, const std::string& what) {
  EXPECT_EQ(ours.totals.cycles, theirs.totals.cycles) << what;
  EXPECT_DOUBLE_EQ(ours.totals.energy_pj, theirs.totals.energy_pj) << what;
  std::vector<const LevelCost*> a, b;  // memories; the names of networks change on the way
  for (const LevelCost& level : ours.levels) {
    if (level.memory) a.push_back(&level);
  }
  for (const LevelCost& level : theirs.levels) {
    if (level.memory) b.push_back(&level);
  }
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t l = 0; l < a.size(); ++l) {
    for (std::size_t x = 0; x < a[l]->tensors.size(); ++x) {
      EXPECT_EQ(a[l]->tensors[x].kept, b[l]->tensors[x].kept) << what;
      EXPECT_EQ(a[l]->tensors[x].reads, b[l]->tensors[x].reads) << what;
      EXPECT_EQ(a[l]->tensors[x].fills, b[l]->tensors[x].fills) << what;
      EXPECT_EQ(a[l]->tensors[x].updates, b[l]->tensors[x].updates) << what;
    }
  }
}

TEST(Export, AThousandMappingsComeBackFromTimeloopWithTheSameNumbers) {
  reference::Random random(18);
  const Library library(PLIANT_SOURCE_DIR "/configs");
  int exported = 0, refused = 0;
  for (int i = 0; exported < 1000; ++i) {
    ASSERT_LT(i, 20'000) << "too many mappings that Timeloop cannot say";
    const auto kind = i % 2 == 0 ? reference::Kind::kConv : reference::Kind::kGemm;
    const Layer layer = reference::random_layer(random, kind, 2000);
    Accelerator accelerator = reference::random_accelerator(random, false);
    accelerator.conventions = Conventions::timeloop();
    accelerator.levels.back().compute().leak_pj_per_cycle = 0;
    const Mapping mapping = reference::random_mapping(random, layer, accelerator, Factorization::kPerfect);
    std::vector<WrittenFile> files;
    try {
      files = export_timeloop({layer, accelerator, mapping});
    } catch (const InputError&) {
      ++refused;  // two loops over one dim at one level, or a fanout just above the MACs
      continue;
    }
    ++exported;
    const Imported back = import_again(files);
    ASSERT_EQ(back.accelerators.size(), 1u);
    ASSERT_EQ(back.layers.size(), 1u);
    ASSERT_EQ(back.mappings.size(), 1u);
    const Accelerator machine = parse_accelerator_text(library, back.accelerators[0].yaml, "back");
    const MappingFile file = parse_mapping_text(back.mappings[0].yaml, "back", back.layers[0], machine);
    EXPECT_EQ(file.factorization, Factorization::kPerfect);
    expect_same_numbers(price(layer, accelerator, mapping), price(back.layers[0], machine, file.mapping),
                        files[2].text);
    if (HasFailure()) return;
  }
  EXPECT_GT(exported, refused / 10);
}

constexpr std::string_view kMachine = R"(name: small
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 64}
  - {fanout: PEs, cols: 4}
  - {memory: Reg, capacity: 16, read_pj: 0.5, keeps: [outputs]}
  - {compute: MAC, mac_pj: 0.25}
)";
constexpr std::string_view kMapping = R"(pliant: mapping
levels:
  - {level: DRAM, temporal: [{M: 2}, {K: 3}]}
  - {level: PEs, cols: [{N: 4}]}
  - {level: Reg, temporal: [{M: 2}], keeps: [Outputs]}
)";

struct Small {
  Library library{PLIANT_SOURCE_DIR "/configs"};
  Accelerator accelerator = parse_accelerator_text(library, kMachine, "m");
  Layer layer = make_gemm("g", {.M = 4, .N = 4, .K = 3});
  Mapping mapping = parse_mapping_text(kMapping, "map", layer, accelerator).mapping;
  MappedLayer mapped{layer, accelerator, mapping};
};

TEST(Export, CLoops) {
  const Small small;
  EXPECT_EQ(export_c(small.mapped).at(0).text, R"(// g on small
// DRAM keeps Inputs, Weights, Outputs
for (long M0 = 0; M0 < 2; ++M0)
  for (long K0 = 0; K0 < 3; ++K0)
    for (long N0 = 0; N0 < 4; ++N0)  // parallel: columns of PEs
      // Reg keeps Outputs
      for (long M1 = 0; M1 < 2; ++M1)
        {
          const long M = M0 * 2 + M1;
          const long N = N0;
          const long K = K0;
          Outputs[M][N] += Inputs[M][K] * Weights[K][N];
        }
)");
}

TEST(Export, ZigZagOrdersLoopsFromTheInside) {
  const Small small;
  EXPECT_EQ(export_zigzag(small.mapped).at(0).text, R"(- name: g
  spatial_mapping:
    D1: # columns of PEs
      - N, 4
  temporal_ordering: # innermost first
    - [M, 2] # Reg
    - [K, 3] # DRAM
    - [M, 2] # DRAM
  memory_operand_links:
    O: O
    W: I2
    I: I1
)");
}

TEST(Export, WhatTimeloopCannotSayIsAnError) {
  Small small;
  small.accelerator.levels[1].fanout().multicast = false;
  EXPECT_THROW(export_timeloop(small.mapped), InputError);
  Small imperfect;
  imperfect.mapping.levels[0].temporal[0].bound = 3;
  EXPECT_THROW(export_timeloop(imperfect.mapped), InputError);
  Small narrow;
  narrow.layer.bits.of[static_cast<std::size_t>(Role::kWeight)] = 4;
  EXPECT_THROW(export_timeloop(narrow.mapped), InputError);
  Small sums;
  sums.accelerator.bits.partial_sums = 64;
  EXPECT_THROW(export_timeloop(sums.mapped), InputError);
  Small wires;
  wires.accelerator.levels[1].fanout().pj_per_bit = 0.1;
  EXPECT_THROW(export_timeloop(wires.mapped), InputError);
  Small array;
  array.accelerator.levels[1].fanout().systolic = Role::kWeight;
  EXPECT_THROW(export_timeloop(array.mapped), InputError);
}

}  // namespace
}  // namespace pliant
