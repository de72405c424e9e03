// SPDX-License-Identifier: Apache-2.0
// Random damage to good files of every format: an error with words, or something that our own readers accept.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cctype>
#include <random>

#include "core/input/load.h"
#include "support/import_texts.h"
#include "support/onnx_bytes.h"

namespace pliant {
namespace {

struct Seed {
  std::string_view format, name;
  std::string text;
};

std::vector<Seed> seeds() {
  using namespace onnx_bytes;
  return {
      {"scalesim", "t.csv",
       "Layer name,IFMAP Height,IFMAP Width,Filter Height,Filter Width,Channels,Num "
       "Filter,Strides,\nA,8,8,3,3,2,4,1,\nDP,9,9,3,3,8,1,2,\n"},
      {"scalesim", "a.cfg",
       "[architecture_presets]\nArrayHeight: 4\nArrayWidth: 8\nIfmapSramSzkB: 2\nFilterSramSzkB: 2\nOfmapSramSzkB: "
       "1\nDataflow: os\n"},
      {"llm", "c.json",
       R"({"model_type": "mixtral", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 96, "vocab_size": 100, "num_local_experts": 4, "num_experts_per_tok": 2})"},
      {"timeloop", "x.yaml", R"(architecture:
  version: 0.4
  nodes:
    - !Component {name: Main, class: DRAM, attributes: {width: 32, datawidth: 8}}
    - !Container {name: PE, spatial: {meshX: 4}, constraints: {spatial: {factors: [R=1], permutation: [R, P, K], split: 3}}}
    - !Component {name: Reg, class: regfile, attributes: {depth: 16, width: 16, datawidth: 8}, constraints: {temporal: {factors: [K=1], permutation: [R, P]}}}
    - !Component {name: MAC, class: intmac}
problem: &p
  shape: {dimensions: [K, R, P], data_spaces: [{name: W, projection: [[[K]], [[R]]]}, {name: I, projection: [[[R], [P, 2]]]}, {name: O, projection: [[[K]], [[P]]], read_write: true}]}
  instance: {K: 8, R: 3, P: 4}
mapping:
  - {target: Main, type: temporal, factors: "K=2,P=4", permutation: KPR}
  - {target: inter_PE_spatial, type: spatial, factors: K=4}
  - {target: Reg, type: temporal, factors: "R=3"}
)"},
      {"accelforge", "a.yaml", R"({% set N = 2 %}
arch:
  nodes:
  - !Memory {name: Main, size: inf, component_class: Dummy}
  - !Container {name: PE, spatial: [{name: x, fanout: 4 * {{N}}, reuse: input}, {name: y, fanout: 2, reuse: output}]}
  - !Memory {name: Reg, size: weight.bits_per_value * 4, tensors: {keep: weight | output}, actions: [{name: read, energy: 1e-12, throughput: 8e9}, {name: write, energy: 1e-12, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1e-12, throughput: 1e9}]}
workload:
  rank_sizes: {M: 4, K: 8, N: ceil(9 / M)}
  einsums:
  {% for i in range(N) %}
  - "T{{i+1}}[m, k] = T{{i}}[m, K: n + n2] * W{{i}}[n, k]"
  {% endfor %}
  - {einsum: "O[m, n] = T0[m, k] * W[k, n]", renames: {input: T0}}
  iteration_space_shape: {n2: 0 <= n2 < 3}
)"},
      {"zigzag", "w.yaml", R"(- id: 0
  operator_type: Conv
  equation: O[b][k][oy]+=W[k][c][fy]*I[b][c][iy]
  dimension_relations: [iy=2*oy+1*fy]
  loop_dims: [B, K, C, OY, FY]
  loop_sizes: [1, 8, 4, 6, 3]
  operand_source: {I: 0, W: 0}
)"},
      {"onnx", "n.onnx",
       model(input("x", {1, 4, 8, 8}) + weight("w", {8, 4, 3, 3}, 20) + numbers("s", {1, -1}) + weight("v", {288, 5}) +
             node("Conv", {"x", "w"}, "a") + node("Reshape", {"a", "s"}, "b") + node("MatMul", {"b", "v"}, "y"))},
  };
}

TEST(HostileImports, DamagedFilesEndInAnErrorOrInGoodInput) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  std::mt19937_64 random(7);
  const std::string_view pieces[] = {"-1", "1e30", "0",   "{",           "}",    "[",
                                     "]",  ":",    ",",   "\n",          "\xff", "9223372036854775807",
                                     "&p", "*p",   "!x ", "\x80\x80\x80"};
  for (const Seed& seed : seeds()) {
    EXPECT_EQ(import_error(seed.format, seed.name, seed.text, {.prefill = 16}), "") << seed.name;
    int accepted = 0;
    for (int i = 0; i < 400; ++i) {
      std::string text = seed.text;
      for (int n = static_cast<int>(random() % 3); n >= 0; --n) {
        const std::size_t at = random() % text.size(), length = random() % 4;
        text.replace(at, length, pieces[random() % std::size(pieces)]);
        if (random() % 8 == 0) text.resize(at + 1);
      }
      try {
        const Imported imported = import_text(seed.format, seed.name, text, {.lenient = i % 2 == 1, .prefill = 16});
        for (const ImportedText& one : imported.accelerators) parse_accelerator_text(library, one.yaml, "again");
        for (const Workload& one : imported.workloads) parse_workload_text(write_workload(one), "again.yaml");
        for (const Layer& one : imported.layers) parse_layer_text(write_layer(one), "again");
        ++accepted;
      } catch (const InputError& error) {
        ASSERT_FALSE(error.diagnostics().empty());
        EXPECT_FALSE(error.diagnostics()[0].what.empty());
      }
    }
    EXPECT_LT(accepted, 400) << seed.name;
  }
}

/// The largest this process has been, in MiB.
long peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

#ifdef __SANITIZE_THREAD__
constexpr long kMostMib = 1600;  // it remembers several words for every word
#else
constexpr long kMostMib = 400;
#endif

/// Starts with the file and a line.
bool has_place(const std::string& error, const std::string& name) {
  return error.starts_with(name + ":") && error.size() > name.size() + 1 &&
         std::isdigit(static_cast<unsigned char>(error[name.size() + 1])) != 0;
}

TEST(HostileImports, EveryKindOfAttackEndsWithAPlaceInBoundedMemory) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += "*a" + std::to_string(i - 1) + ", ";
    bomb += "]\n";
  }
  const std::string deep = "problem: " + std::string(100'000, '[');
  const std::string many = "arch: {nodes: [" + std::string(200'000, ',') + "]}";
  const std::string long_key = std::string(300'000, 'k') + ": 1\n";
  const long before = peak_mib();
  for (const char* format : {"timeloop", "zigzag", "accelforge", "llm"}) {
    for (const std::string& text :
         {bomb, deep, many, long_key, std::string("a: \xff\xfe\n"), std::string("a: \x00b", 5)}) {
      const std::string error = import_error(format, "x.yaml", text, {.prefill = 8});
      EXPECT_TRUE(has_place(error, "x.yaml")) << format << ": " << text.substr(0, 40) << ": " << error.substr(0, 200);
    }
  }
  const std::string huge =
      "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,\n"
      "A,99999999999999999999,8,3,3,2,4,1,\n";
  for (const std::string& text :
       {huge, std::string("Layer, M, N, K,\nA\xff, 1, 2, 3,\n"), std::string("Layer, M, N, K,\nA, 1,\n")}) {
    const std::string error = import_error("scalesim", "t.csv", text);
    EXPECT_TRUE(has_place(error, "t.csv")) << error.substr(0, 200);
  }
  EXPECT_LT(peak_mib() - before, kMostMib);
}

}  // namespace
}  // namespace pliant
