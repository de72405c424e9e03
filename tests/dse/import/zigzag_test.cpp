// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/input/load.h"
#include "support/import_texts.h"

namespace pliant {
namespace {

constexpr std::string_view kHardware = R"(name: small
memories:
  rf:
    size: 64
    r_cost: 0.5
    w_cost: 0.75
    operands: [O]
    ports:
      - {name: r, type: read, bandwidth_min: 16, bandwidth_max: 16, allocation: ["O, tl"]}
      - {name: w, type: write, bandwidth_min: 16, bandwidth_max: 16, allocation: ["O, fh"]}
    served_dimensions: [D2]
  sram:
    size: 65536
    r_cost: 32
    w_cost: 48
    operands: [I1, O]
    ports:
      - {name: r, type: read, bandwidth_min: 8, bandwidth_max: 128}
      - {name: w, type: write, bandwidth_min: 8, bandwidth_max: 128}
    served_dimensions: [D1, D2]
  dram:
    size: 10000000000
    r_cost: 700
    w_cost: 750
    operands: [I1, I2, O]
    ports:
      - {name: rw, type: read_write, bandwidth_min: 64, bandwidth_max: 64}
    served_dimensions: [D1, D2]
operational_array: {unit_energy: 0.04, unit_area: 1, dimensions: [D1, D2], sizes: [4, 8]}
)";
constexpr std::string_view kZigZagMapping = R"(- name: default
  spatial_mapping:
    D1:
      - K, 4
    D2:
      - C, 4
      - FX, 2
  memory_operand_links: {O: O, W: I2, I: I1}
)";
constexpr std::string_view kWorkload = R"(- id: 0
  name: first
  operator_type: Conv
  equation: O[b][k][oy][ox]+=W[k][c][fy][fx]*I[b][c][iy][ix]
  dimension_relations: [ix=2*ox+1*fx, iy=2*oy+1*fy]
  loop_dims: [B, K, C, OY, OX, FY, FX]
  loop_sizes: [1, 64, 3, 112, 112, 7, 7]
- id: 1
  operator_type: Pooling
  equation: O[b][g][oy][ox]+=W[fx][fy]*I[b][g][iy][ix]
  dimension_relations: [ix=2*ox+1*fx, iy=2*oy+1*fy]
  loop_dims: [B, G, OY, OX, FX, FY]
  loop_sizes: [1, 64, 56, 56, 3, 3]
- id: 2
  operator_type: Add
  equation: O[b][g][oy][ox]=W[b][g][oy][ox]+I[b][g][oy][ox]
  dimension_relations: []
  loop_dims: [B, G, OY, OX]
  loop_sizes: [1, 64, 56, 56]
- id: 3
  operator_type: Gemm
  equation: O[d0][d1]+=I[d0][d2]*W[d2][d1]
  dimension_relations: []
  loop_dims: [D0, D1, D2]
  loop_sizes: [128, 32, 64]
)";

/// ZigZag's O is what is summed up, O_final what leaves.
TEST(ZigZag, PrecisionsAreBits) {
  const auto bits_of = [](std::string_view precision) {
    std::string text =
        "- id: 0\n  operator_type: Gemm\n  equation: O[b][k]+=W[k][c]*I[b][c]\n"
        "  loop_dims: [B, K, C]\n  loop_sizes: [4, 8, 16]\n";
    text += fmt::format("  operand_precision: {}\n", precision);
    return import_text("auto", "net.yaml", text).workloads.at(0).layers.at(0).layer.bits;
  };
  const ElementBits usual = bits_of("{O: 16, O_final: 8, W: 4, I: 8}");
  EXPECT_EQ(usual.of, (std::array<std::optional<int>, kRoles>{8, 4, 8}));
  EXPECT_EQ(usual.partial_sums, 16);
  EXPECT_EQ(bits_of("{O: 16}").of[static_cast<std::size_t>(Role::kOutput)], 16);
  EXPECT_EQ(bits_of("{O: 8, O_final: 16, X: 3}").partial_sums, 16) << "never narrower than results";
  EXPECT_NE(import_error("zigzag", "net.yaml",
                         "- id: 0\n  equation: O[b][k]+=W[k][c]*I[b][c]\n  loop_dims: [B, K, C]\n"
                         "  loop_sizes: [4, 8, 16]\n  operand_precision: {W: 0}\n")
                .find("net.yaml:5:26: [0].operand_precision.W: 0 is too small"),
            std::string::npos);
}

TEST(ZigZag, LayersWithProductsAreRead) {
  const Imported imported = import_text("auto", "net.yaml", kWorkload);
  const auto& layers = imported.workloads.at(0).layers;
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0].layer.name, "first");
  EXPECT_EQ(layers[0].layer.written_as, "conv:M=64,C=3,P=112,Q=112,R=7,S=7,stride=2");
  EXPECT_EQ(layers[1].layer.written_as, "gemm:M=128,N=32,K=64");
  EXPECT_EQ(imported.choices.size(), 2u);  // pooling and addition are no layers
}

TEST(ZigZag, HardwareIsAChainOfMemories) {
  const Imported imported =
      import_sources("auto", {{"hw.yaml", std::string(kHardware)}, {"map.yaml", std::string(kZigZagMapping)}}, {});
  const Accelerator a =
      parse_accelerator_text(Library(PLIANT_SOURCE_DIR "/configs"), imported.accelerators.at(0).yaml, "a");
  ASSERT_EQ(a.levels.size(), 6u);
  EXPECT_FALSE(a.levels[0].memory().capacity_words);
  EXPECT_EQ(a.levels[0].memory().bus_words_per_cycle, 8.0);  // 64 bits for both directions, words of 8
  EXPECT_FALSE(a.levels[0].memory().read_words_per_cycle);
  EXPECT_EQ(a.levels[1].memory().capacity_words, 8192);
  EXPECT_EQ(a.levels[1].memory().read_pj, 2);  // 32 pJ for 128 bits
  EXPECT_FALSE(a.levels[1].memory().may_keep[static_cast<std::size_t>(Role::kWeight)]);
  // One register serves the units along D2: it stands between the two sides.
  EXPECT_EQ(a.levels[2].name, "D1");
  EXPECT_EQ(a.levels[3].name, "rf");
  EXPECT_EQ(a.levels[3].memory().capacity_words, 4);  // 64 bits of outputs of 16
  EXPECT_EQ(a.levels[4].name, "D2");
  EXPECT_EQ(a.macs_units(), 32);
  EXPECT_EQ(a.flexibility.levels[4].parallel.assignments.at(0).cols, (std::vector<std::string>{"C", "S"}));
}

TEST(ZigZag, RepeatedKeysAreNotedAndTheLastCounts) {
  std::string text(kHardware);
  text.replace(text.find("    size: 64\n"), 13, "    size: 640\n    size: 64\n");
  const Imported imported = import_text("auto", "hw.yaml", text);
  EXPECT_NE(imported.choices[0].text().find("hw.yaml:5: a key given twice"), std::string::npos);
  const Accelerator a =
      parse_accelerator_text(Library(PLIANT_SOURCE_DIR "/configs"), imported.accelerators.at(0).yaml, "a");
  EXPECT_EQ(a.levels[3].memory().capacity_words, 4);
}

TEST(ZigZag, WhatHasNoCounterpartIsRefusedWithItsPlace) {
  std::string beside(kHardware);
  beside.replace(
      beside.find("  sram:"), 7,
      "  rf_in: {size: 64, r_cost: 1, w_cost: 1, operands: [I1], ports: [], served_dimensions: [D1]}\n  sram:");
  EXPECT_NE(import_error("auto", "hw.yaml", beside).find("not a chain"), std::string::npos);
  std::string memory_computes(kHardware);
  memory_computes.replace(memory_computes.find("{unit_energy"), 1, "{is_imc: True, ");
  EXPECT_NE(import_error("auto", "hw.yaml", memory_computes)
                .find("hw.yaml:29:29: operational_array.is_imc: an in-memory-computing array"),
            std::string::npos)
      << import_error("auto", "hw.yaml", memory_computes);
  EXPECT_NE(import_error("auto", "map.yaml", kZigZagMapping).find("a mapping without its hardware"), std::string::npos);
  const auto add = [](const char* id, const char* source) {
    return fmt::format(
        "- id: {}\n  operator_type: Add\n  equation: O[b]=W[b]+I[b]\n  loop_dims: [B]\n  loop_sizes: [2]\n"
        "  operand_source: {{I: {}}}\n",
        id, source);
  };
  const std::string cycle = import_error("zigzag", "net.yaml", add("0", "1") + add("1", "0"));
  EXPECT_EQ(cycle.substr(0, 13), "net.yaml:12:1");
  EXPECT_NE(cycle.find("layers that wait for one another"), std::string::npos) << cycle;
  EXPECT_NE(import_error("zigzag", "net.yaml", add("0", "7")).find("net.yaml:6:"), std::string::npos);
  EXPECT_NE(import_error("zigzag", "net.yaml", add("0", "7")).find("is no layer's id"), std::string::npos);
  std::string product(kWorkload);
  product.replace(product.find("ix=2*ox+1*fx"), 12, "ix=ox*fx+1*o");
  EXPECT_NE(import_error("auto", "net.yaml", product).find("net.yaml:5:25"), std::string::npos)
      << import_error("auto", "net.yaml", product);
}

}  // namespace
}  // namespace pliant
