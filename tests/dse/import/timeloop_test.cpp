// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>

#include "core/input/load.h"
#include "core/legality.h"
#include "costmodel/report.h"
#include "dse/import/open.h"
#include "support/import_texts.h"
#include "support/shipped_library.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

// Written for these tests in the form that Timeloop's front end writes: a 1-D convolution with output channels on 4
// copies of a register file.
constexpr std::string_view kExpanded = R"(dumped_by_timeloop_front_end: true
architecture:
  version: '0.4'
  subtree:
    - name: small_system
      attributes: {technology: "40nm"}
      local:
        - name: Main[1..1]
          class: DRAM
          attributes: {width: 32, datawidth: 8, meshX: 1, meshY: 1}
        - name: inter_PE_spatial[1..1]
          class: dummy_storage
          attributes: {width: 1, depth: 1, datawidth: 1, meshX: 1, meshY: 1}
        - name: Register[1..4]
          class: regfile
          attributes: {depth: 16, width: 16, datawidth: 8, multiple_buffering: 1, read_bandwidth: 2, meshX: 4, meshY: 1}
        - name: MAC[1..4]
          class: intmac
          attributes: {meshX: 4, meshY: 1}
architecture_constraints:
  targets:
    - {target: inter_PE_spatial, type: spatial, factors: "R=1,P=1", permutation: RPK, split: 3}
    - {target: inter_PE_spatial, type: bypass, bypass: [Weights, Inputs, Outputs]}
    - {target: Register, type: bypass, keep: [Outputs], bypass: [Weights]}
    - {target: Register, type: temporal, factors: "K=1", permutation: RP}
problem:
  version: '0.4'
  shape:
    name: conv1d
    dimensions: [K, R, P]
    coefficients: [{name: stride, default: 2}]
    data_spaces:
      - {name: Weights, projection: [[[K]], [[R]]]}
      - {name: Inputs, projection: [[[R], [P, stride]]]}
      - {name: Outputs, projection: [[[K]], [[P]]], read_write: true}
  instance: {K: 8, R: 3, P: 4, densities: {}}
mapping:
  - {target: Main, type: temporal, factors: "K=2,R=1,P=2", permutation: KPR}
  - {target: inter_PE_spatial, type: spatial, factors: K=4, permutation: KRP}
  - {target: inter_PE_spatial, type: bypass, bypass: [Weights, Inputs, Outputs]}
  - {target: Register, type: temporal, factors: "R=3 P=2", permutation: RPK}
  - {target: Register, type: bypass, bypass: [Weights]}
)";
constexpr std::string_view kTables = R"(ERT:
  tables:
    - name: small_system.Main[1..1]
      actions: [{name: read, energy: 40}, {name: write, energy: 44}, {name: update, energy: 48}, {name: leak, energy: 0}]
    - name: small_system.Register[1..4]
      actions: [{name: read, energy: 1}, {name: write, energy: 2}, {name: update, energy: 4}, {name: leak, energy: 0.5}]
    - name: small_system.MAC[1..4]
      actions: [{name: compute, energy: 0.25}]
ART:
  tables:
    - {name: "small_system.Register[1..4]", area: 100}
)";

Imported read(std::string_view main, const ImportOptions& options = {}) {
  return import_sources("auto", {{"in.yaml", std::string(main)}, {"ert.yaml", std::string(kTables)}}, options);
}

TEST(Timeloop, ArchitectureAndTables) {
  const Imported imported = read(kExpanded);
  ASSERT_EQ(imported.accelerators.size(), 1u);
  const Accelerator a = parse_accelerator_text(library(), imported.accelerators[0].yaml, "a");
  EXPECT_EQ(a.name, "small_system");
  EXPECT_EQ(a.conventions.name(), "timeloop");
  ASSERT_EQ(a.levels.size(), 4u);
  EXPECT_FALSE(a.levels[0].memory().capacity_words);
  EXPECT_EQ(a.levels[0].memory().read_pj, 10);  // 40 pJ for a row of four words
  EXPECT_EQ(a.levels[1].name, "inter_PE_spatial");
  EXPECT_EQ(a.levels[1].fanout().cols, 4);
  const Memory& reg = a.levels[2].memory();
  EXPECT_EQ(reg.capacity_words, 32);
  EXPECT_EQ(reg.update_pj, 2);
  EXPECT_EQ(reg.leak_pj_per_cycle, 0.5);
  EXPECT_EQ(reg.area_um2, 100);
  EXPECT_EQ(reg.read_words_per_cycle, 2.0);
  EXPECT_FALSE(reg.may_keep[static_cast<std::size_t>(Role::kWeight)]);
  EXPECT_TRUE(reg.may_bypass[static_cast<std::size_t>(Role::kInput)]);    // not mentioned: free
  EXPECT_FALSE(reg.may_bypass[static_cast<std::size_t>(Role::kOutput)]);  // must be kept
  EXPECT_EQ(a.levels[3].compute().mac_pj, 0.25);
}

TEST(Timeloop, ConstraintsAreRules) {
  const Accelerator a = parse_accelerator_text(library(), read(kExpanded).accelerators[0].yaml, "a");
  const auto& levels = a.flexibility.levels;
  ASSERT_EQ(levels[1].parallel.assignments.size(), 1u);
  EXPECT_EQ(levels[1].parallel.assignments[0].cols, std::vector<std::string>{"K"});
  EXPECT_TRUE(levels[1].parallel.assignments[0].rows.empty());
  EXPECT_EQ(levels[2].loops.dims, (std::vector<std::string>{"P", "R"}));
  // Timeloop lists the innermost dim first.
  ASSERT_EQ(levels[2].order.allowed.size(), 1u);
  EXPECT_EQ(levels[2].order.allowed[0].dims, (std::vector<std::string>{"P", "R"}));
}

TEST(Timeloop, TheMappingIsLegalAndPricedByHand) {
  const Imported imported = read(kExpanded);
  const Accelerator a = parse_accelerator_text(library(), imported.accelerators[0].yaml, "a");
  const Layer& layer = imported.layers.at(0);
  EXPECT_EQ(layer.macs(), 8 * 3 * 4);
  EXPECT_EQ(layer.tensors[1].ranks[0].terms[1].coefficient, 2);
  const MappingFile file = parse_mapping_text(imported.mappings.at(0).yaml, "m", layer, a);
  EXPECT_EQ(file.factorization, Factorization::kPerfect);
  // At Main: R (bound 1) is nothing, P outside K, because the permutation is innermost first.
  ASSERT_EQ(file.mapping.levels[0].temporal.size(), 2u);
  EXPECT_EQ(layer.dims[static_cast<std::size_t>(file.mapping.levels[0].temporal[0].dim)].name, "P");
  EXPECT_TRUE(check_legality(layer, a, a.flexibility_of(layer), file.factorization, file.mapping).empty());
  const CostReport report = price(layer, a, file.mapping);
  EXPECT_EQ(report.totals.cycles, 2 * 2 * 3 * 2);
  const int outputs = layer.output();
  // Every output is finished in its register: 8 * 4 updates of Main, nothing read back.
  EXPECT_EQ(report.levels[0].tensors[static_cast<std::size_t>(outputs)].updates, 32);
  EXPECT_EQ(report.levels[0].tensors[static_cast<std::size_t>(outputs)].reads, 0);
}

TEST(Timeloop, ExactFactorsFixTiles) {
  std::string text(kExpanded);
  const std::string from = R"(factors: "K=1", permutation: RP})", to = R"(factors: "K=1,R=3,P=2", permutation: RP})";
  text.replace(text.find(from), from.size(), to);
  const Accelerator a = parse_accelerator_text(library(), read(text).accelerators[0].yaml, "a");
  const auto& fixed = a.flexibility.levels[2].tile.fixed;
  ASSERT_EQ(fixed.size(), 2u);
  EXPECT_EQ(fixed[0], (TileRule::Tile{"P", 2}));
  EXPECT_EQ(fixed[1], (TileRule::Tile{"R", 3}));
  // A spatial factor above 1 under a free register fixes nothing.
  std::string spatial(kExpanded);
  spatial.replace(spatial.find("R=1,P=1"), 7, "R=1,K=4");
  EXPECT_NE(import_error("auto", "in.yaml", spatial).find("the factor K=4"), std::string::npos);
  EXPECT_EQ(read(spatial, {.lenient = true}).left_out.size(), 1u);
}

TEST(Timeloop, NestedArchitecturesWithTagsGiveTheSameMachine) {
  const std::string_view nested = R"(architecture:
  version: 0.4
  nodes:
    - !Container {name: small_system}
    - !Component {name: Main, class: DRAM, attributes: {width: 32, datawidth: 8}}
    - !Container
      name: PE
      spatial: {meshX: 4}
      constraints: {spatial: {factors: [R=1, P=1], permutation: [R, P, K], split: 3}}
    - !Component
      name: Register
      class: regfile
      attributes: {depth: 16, width: 16, datawidth: 8, read_bandwidth: 2}
      constraints:
        dataspace: {keep: [Outputs], bypass: [Weights]}
        temporal: {factors: [K=1], permutation: [R, P]}
    - !Component {name: MAC, class: intmac}
)";
  std::string problem(kExpanded.substr(kExpanded.find("problem:")));
  problem = problem.substr(0, problem.find("mapping:"));
  const Imported imported = import_sources(
      "auto", {{"arch.yaml", std::string(nested)}, {"prob.yaml", problem}, {"ert.yaml", std::string(kTables)}}, {});
  const Accelerator from_nested = parse_accelerator_text(library(), imported.accelerators.at(0).yaml, "a");
  EXPECT_EQ(from_nested, parse_accelerator_text(library(), read(kExpanded).accelerators[0].yaml, "a"));
}

TEST(Timeloop, ConvolutionsGetOurNamesAndIncludedTextsArePlaced) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "base.yaml") << R"(base_ignore: &base
  instance: {N: 1, C: 1, M: 1, P: 1, Q: 1, R: 1, S: 1, G: 1, Wstride: 1, Hstride: 1}
  shape:
    dimensions: [C, M, R, S, N, P, Q, G]
    data_spaces:
      - {name: Weights, projection: [[[C]], [[M]], [[R]], [[S]], [[G]]]}
      - {name: Inputs, projection: [[[N]], [[C]], [[R], [P, Wstride]], [[S], [Q, Hstride]], [[G]]]}
      - {name: Outputs, projection: [[[N]], [[M]], [[Q]], [[P]], [[G]]], read_write: true}
)";
  const std::string file = folder.path() / "01.yaml";
  std::ofstream(file) << "{{include_text('base.yaml')}}\nproblem:\n  <<<: *base\n  instance: {C: 16, M: 32, P: 7, Q: "
                         "7, R: 3, S: 3, Wstride: 2, Hstride: 2}\n";
  const Workload one = open_workload(library(), file);
  EXPECT_EQ(one.layers.at(0).layer.written_as, "conv:M=32,C=16,P=7,Q=7,R=3,S=3,stride=2");
  std::ofstream(file) << "{{include_text('base.yaml')}}\nproblem:\n  <<<: *base\n  instance: {C: 0}\n";
  try {
    open_workload(library(), file);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics()[0].file, file);
    EXPECT_EQ(error.diagnostics()[0].line, 4);
  }
  std::ofstream(file) << "{{include_text('01.yaml')}}\n";
  EXPECT_THROW(open_workload(library(), file), InputError);
}

TEST(Timeloop, WhatHasNoCounterpartIsRefusedWithItsPlace) {
  std::string sparse(kExpanded);
  sparse.replace(sparse.find("densities: {}"), 13, "densities: {Weights: {density: 0.5}}");
  EXPECT_NE(import_error("auto", "in.yaml", sparse)
                .find("in.yaml:36:53: problem.instance.densities.Weights: a density below 1: sparse data"),
            std::string::npos)
      << import_error("auto", "in.yaml", sparse);
  EXPECT_NE(
      import_error("auto", "in.yaml", std::string(kExpanded) + "sparse_optimizations:\n  targets: [{name: Main}]\n")
          .find("sparse optimizations"),
      std::string::npos);
  EXPECT_NE(import_error("auto", "in.yaml", "architecture:\n  nodes: {{ components }}\n")
                .find("in.yaml:2:10: `components` has no value; expected --set NAME=VALUE"),
            std::string::npos);
}

constexpr std::string_view kTemplate = R"(variables: {BITS: {{bits | default(8)}}, LINES: 4 * 4}
architecture:
  nodes:
  - !Container {name: system, attributes: {side: 2 + 2}}
  - !Component {name: Main, class: DRAM, attributes: {width: 8 * BITS, datawidth: BITS}}
  - !Component
    name: Buffer
    class: SRAM
    attributes: {depth: LINES * 2, width: datawidth * 4, datawidth: BITS}
    constraints:
      dataspace: {keep_only: [Inputs, Outputs]}
  - !Container
    name: PE
    spatial: {meshX: side}
    constraints:
      spatial: {no_iteration_over_dataspaces: [Outputs], split: len(spec.problem.instance)}
  {% if register | default(True) %}
  - !Component
    name: Register
    class: regfile
    attributes: {depth: 1, width: datawidth, datawidth: BITS}
    constraints: {temporal: {factors_only: [R=3]}}
  {% endif %}
  - !Component {name: MAC, class: intmac}
problem:
  shape:
    dimensions: [C, R, P]
    data_spaces:
    - {name: Weights, projection: [[[C]], [[R]]]}
    - {name: Inputs, projection: [[[C]], [[R], [P]]]}
    - {name: Outputs, projection: [[[P]]], read_write: True}
  instance: {C: 8, R: 3, P: 4}
)";

TEST(Timeloop, TemplatesAndExpressions) {
  const auto read = [](const ImportOptions& options) {
    const Imported imported = import_text("timeloop", "in.yaml", kTemplate, options);
    return parse_accelerator_text(Library(PLIANT_SOURCE_DIR "/configs"), imported.accelerators.at(0).yaml, "a");
  };
  const Accelerator chip = read({});
  ASSERT_EQ(chip.levels.size(), 5u);
  EXPECT_EQ(chip.levels[1].memory().capacity_words, 128);  // 32 lines of 4 words
  EXPECT_EQ(chip.levels[1].memory().may_keep, (std::array{true, false, true}));
  EXPECT_EQ(chip.levels[2].fanout().cols, 4);
  const auto& sides = chip.flexibility.levels[2].parallel.assignments;
  ASSERT_EQ(sides.size(), 1u);
  EXPECT_EQ(sides[0].cols, (std::vector<std::string>{"C", "R"}));  // the dims that outputs do not have
  EXPECT_TRUE(sides[0].rows.empty());
  const LevelFlexibility& inner = chip.flexibility.levels[3];
  EXPECT_EQ(inner.loops.dims, (std::vector<std::string>{"R"}));
  ASSERT_EQ(inner.tile.fixed.size(), 1u);
  EXPECT_EQ(inner.tile.fixed[0], (TileRule::Tile{"R", 3}));
  const Accelerator small = read({.variables = {{"bits", "16"}, {"register", "False"}}});
  EXPECT_EQ(small.levels[1].memory().word_bits, 16);
  EXPECT_EQ(small.find_level("Register"), -1);
  const std::string unknown = std::string(kTemplate).replace(kTemplate.find("side}"), 4, "rows");
  EXPECT_TRUE(import_error("timeloop", "in.yaml", unknown)
                  .starts_with("in.yaml:14:22: architecture.nodes[3].spatial.meshX: `rows` is not a whole number"));
}

TEST(Timeloop, HostileTextsEndInAnError) {
  EXPECT_NE(import_error("timeloop", "x.yaml", "architecture: [1, 2"), "");
  EXPECT_NE(import_error("timeloop", "x.yaml", "architecture: {subtree: []}"), "");
  EXPECT_NE(import_error("timeloop", "x.yaml", "problem: {shape: {}, instance: {}}"), "");
  std::string huge(kExpanded);
  huge.replace(huge.find("K: 8, R: 3"), 10, "K: 1e12, R: 1e12");
  EXPECT_NE(import_error("timeloop", "x.yaml", huge), "");
  std::string copies(kExpanded);
  copies.replace(copies.find("Register[1..4]"), 14, "Register[1..7]");
  EXPECT_NE(import_error("timeloop", "x.yaml", copies).find("7 instances in a mesh of 4 x 1"), std::string::npos);
}

}  // namespace
}  // namespace pliant
