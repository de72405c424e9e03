// SPDX-License-Identifier: Apache-2.0
// Fixtures written here in AccelForge's format.
#include <gtest/gtest.h>

#include "core/input/load.h"
#include "dse/import/known_layer.h"
#include "support/import_texts.h"

namespace pliant {
namespace {

constexpr std::string_view kArch = R"(arch:
  nodes:
  - !Memory
    name: Main
    size: inf
    leak_power: 0
    actions:
    - {name: read, energy: 8e-12, throughput: 8 * 16e9}
    - {name: write, energy: 8e-12, throughput: 8 * 16e9}
    tensors: {keep: ~Intermediates, may_keep: All}
  - !Memory
    name: Buffer
    size: 1024 * 8 * 4
    area: 2e-9
    total_latency: max(a.n_calls / a.throughput for a in actions)
    actions:
    - {name: read, energy: 16e-12, throughput: 1e9, bits_per_action: 64}
    - {name: write, energy: 32e-12, throughput: 1e9, bits_per_action: 64}
    tensors: {keep: ~Main, may_keep: All}
  - !Container
    name: Array
    spatial:
    - {name: x, fanout: 4 * 2, reuse: input, min_usage: 1}
    - {name: y, fanout: 16, reuse: output}
  - !Memory
    name: Register
    size: weight.bits_per_value if weight else 1
    component_class: Dummy
    tensors: {keep: weight}
  - !Compute
    name: Vector
    enabled: len(All) == 2
  - !Compute
    name: MAC
    leak_power: 1e-3
    actions: [{name: compute, energy: 0.5e-12, throughput: 1e9}]
)";

Accelerator read_arch(std::string_view text) {
  const Imported imported = import_text("auto", "chip.yaml", text);
  EXPECT_EQ(imported.accelerators.size(), 1U);
  return parse_accelerator_text(Library(PLIANT_SOURCE_DIR "/configs"), imported.accelerators.at(0).yaml, "chip");
}

TEST(AccelForge, AnArchitectureIsAChainWithBitsJoulesAndSeconds) {
  const Accelerator chip = read_arch(kArch);
  ASSERT_EQ(chip.levels.size(), 5U);
  const Memory& main = chip.levels[0].memory();
  EXPECT_FALSE(main.capacity_words.has_value());
  EXPECT_DOUBLE_EQ(main.read_pj, 64);  // 8 pJ for each of 8 bits
  // 16e9 words of 8 bits a second at 1 GHz are 16 a cycle; reads and writes take turns.
  EXPECT_DOUBLE_EQ(main.bus_words_per_cycle.value_or(0), 16);
  EXPECT_FALSE(main.read_words_per_cycle.has_value());
  const Memory& buffer = chip.levels[1].memory();
  EXPECT_EQ(buffer.capacity_words, 4096);
  EXPECT_DOUBLE_EQ(buffer.read_pj, 2);  // 16 pJ for 8 words
  EXPECT_DOUBLE_EQ(buffer.write_pj, 4);
  EXPECT_DOUBLE_EQ(*buffer.write_words_per_cycle, 8);  // ports of their own
  EXPECT_DOUBLE_EQ(buffer.area_um2, 2000);
  EXPECT_EQ(buffer.may_bypass, (std::array{true, true, true}));
  const Fanout& array = chip.levels[2].fanout();
  EXPECT_EQ(array.cols, 8);
  EXPECT_EQ(array.rows, 16);
  const Memory& reg = chip.levels[3].memory();
  EXPECT_EQ(reg.capacity_words, 1);
  EXPECT_EQ(reg.may_keep, (std::array{false, true, false}));
  EXPECT_EQ(reg.read_pj, 0);
  EXPECT_DOUBLE_EQ(chip.levels[4].compute().mac_pj, 0.5);
  EXPECT_DOUBLE_EQ(chip.levels[4].compute().leak_pj_per_cycle, 1);
}

TEST(AccelForge, ReuseSaysWhichLoopsASideMayHold) {
  const Accelerator chip = read_arch(kArch);
  const auto side = [&](Operation family) {
    return chip.flexibility_of(family).levels.at(2).parallel.assignments.at(0);
  };
  EXPECT_EQ(side(Operation::kGemm).cols, (std::vector<std::string>{"N"}));
  EXPECT_EQ(side(Operation::kGemm).rows, (std::vector<std::string>{"K"}));
  EXPECT_EQ(side(Operation::kConv).cols, (std::vector<std::string>{"M"}));
  EXPECT_EQ(side(Operation::kConv).rows, (std::vector<std::string>{"R", "S", "C"}));
  // A depthwise convolution has no loop along which inputs stay the same.
  EXPECT_TRUE(side(Operation::kDepthwise).cols.empty());
  EXPECT_EQ(side(Operation::kDepthwise).rows, (std::vector<std::string>{"R", "S"}));
}

TEST(AccelForge, EinsumsBecomeLayersOneByOne) {
  const Imported imported = import_text("auto", "net.yaml", R"(workload:
  rank_sizes: {M: 4 * 8, D: 16, E: 8, X: 2, T: ceil(9 / X), P: 6, Q: 6, H: 6, W: 6, C: 12, B: 3}
  iteration_space_shape: {k: 0 <= k < 10}
  bits_per_value: {All: 8}
  einsums:
  - {einsum: "I[m, d] = I_in[m, d]", is_copy_operation: True}
  - "Q[m, e] = I[m, d] * WQ[d, e]"
  - "K[m, e] = I[m, d] * WK[d, e]"
  - einsum: "S[m, t] = Q[m, e] * V[T: t, e]"
    renames: {input: Q}
  - "G[m, e] = Q[m, e] * K[m, e]"
  - "A[m, e] = Q[m, e] + K[m, e]"
  - name: Conv
    tensor_accesses:
    - {name: F, projection: {B: b, C: c, H: 2 * p + r, W: q * 2 + s}}
    - {name: W0, projection: [k, c, r, s]}
    - {name: Y, projection: [b, k, p, q], output: True}
    iteration_space_shape: [0 <= r < 3, 0 <= s <= 2]
    renames: {input: F}
  - name: Depthwise
    tensor_accesses:
    - {name: Y, projection: {B: b, K: k, P: p2 + r, Q: q2 + s}}
    - {name: W1, projection: [k, r, s]}
    - {name: Z, projection: [b, k, p2, q2], output: True}
    iteration_space_shape: {r: 0 <= r < 3, s: 0 <= s < 3, p2: 0 <= p2 < 4, q2: 0 <= q2 < 4}
)");
  ASSERT_EQ(imported.workloads.size(), 1U);
  const auto& layers = imported.workloads[0].layers;
  ASSERT_EQ(layers.size(), 4U);
  EXPECT_EQ(layers[0].layer.written_as, "gemm:M=32,N=8,K=16");
  EXPECT_EQ(layers[0].count, 2);
  EXPECT_EQ(layers[1].layer.written_as, "gemm:M=32,N=5,K=8");
  EXPECT_EQ(
      layers[2].layer,
      make_conv("Conv", {.B = 3, .M = 10, .C = 12, .P = 6, .Q = 6, .R = 3, .S = 3, .stride_p = 2, .stride_q = 2}));
  EXPECT_EQ(layers[3].layer,
            make_conv("Depthwise", {.B = 3, .M = 10, .C = 10, .P = 4, .Q = 4, .R = 3, .S = 3, .groups = 10}));
  std::string notes;
  for (const ImportNote& note : imported.choices) notes += note.text() + "\n";
  EXPECT_NE(notes.find("net.yaml:6: I: no product of two tensors"), std::string::npos) << notes;
  EXPECT_NE(notes.find("net.yaml:11: G: a product element by element"), std::string::npos) << notes;
  EXPECT_NE(notes.find("net.yaml:12: A: no product of two tensors"), std::string::npos) << notes;
  EXPECT_NE(notes.find("8 of them: what one makes may stay on chip for another"), std::string::npos) << notes;
}

TEST(AccelForge, EinsumsThatReadWhatOthersMadeAreAGraph) {
  constexpr std::string_view kNetwork = R"(workload:
  rank_sizes: {M: 8, A: 4, B: 4, C: 4, D: 4}
  einsums:
  - "T1[m, b] = T0[m, a] * W0[a, b]"
  - name: Relu
    tensor_accesses:
    - {name: T1, projection: [m, b]}
    - {name: R1, projection: [m, b], output: True}
  - "T2[m, c] = R1[m, b] * W1[b, c]"
  - "S[m, d] = T1[m, b] * T2[d, b]"
  - name: Unread
    tensor_accesses:
    - {name: T2, projection: [m, c]}
    - {name: U, projection: [m, c], output: True}
)";
  const Imported imported = import_text("auto", "net.yaml", kNetwork);
  ASSERT_EQ(imported.workloads.size(), 1U);
  const Workload& workload = imported.workloads[0];
  ASSERT_TRUE(workload.graph.has_value());
  const WorkloadGraph& graph = *workload.graph;
  ASSERT_EQ(graph.nodes.size(), 4U);  // what nobody reads is no node
  EXPECT_TRUE(graph.nodes[0].from.empty());
  EXPECT_FALSE(graph.nodes[1].is_layer());
  EXPECT_EQ(graph.nodes[1].work, WorkloadGraph::Operator::kActivation);
  EXPECT_EQ(graph.nodes[1].words, 32);
  EXPECT_EQ(graph.nodes[1].from, (std::vector<WorkloadGraph::Edge>{{0, 0}}));
  ASSERT_EQ(graph.nodes[2].from.size(), 1U);
  EXPECT_EQ(graph.nodes[2].from[0].node, 1);
  // T1 and T2 are both made here; one is read as inputs, one as weights. T2 has 8 x 4 words, 4 x 4 are read.
  ASSERT_EQ(graph.nodes[3].from.size(), 1U);
  EXPECT_EQ(graph.nodes[3].from[0].node, 0);
  std::string notes;
  for (const ImportNote& note : imported.choices) notes += note.text() + "\n";
  EXPECT_NE(notes.find("T2 is taken from outside: 16 words are read of 32"), std::string::npos) << notes;
}

TEST(AccelForge, TemplatesTakeTheirValuesFromOutside) {
  constexpr std::string_view text = R"(workload:
  iteration_space_shape:
    m: 0 <= m < {{M}}
    {% for i in range(N + 1) %}
    n{{i}}: 0 <= n{{i}} < 16
    {% endfor %}
  einsums:
  {% for i in range(N) %}
  - name: Matmul{{i}}
    tensor_accesses:
    - {name: T{{i}}, projection: [m, n{{i}}]}
    - {name: W{{i}}, projection: [n{{i}}, n{{i+1}}]}
    - {name: T{{i+1}}, projection: [m, n{{i+1}}], output: True}
  {% endfor %}
)";
  const Imported imported = import_text("accelforge", "chain.yaml", text, {.variables = {{"N", "3"}, {"M", "8"}}});
  ASSERT_EQ(imported.workloads.at(0).layers.size(), 1U);
  EXPECT_EQ(imported.workloads[0].layers[0].count, 3);
  EXPECT_EQ(imported.workloads[0].layers[0].layer.written_as, "gemm:M=8,N=16,K=16");
  EXPECT_EQ(import_error("accelforge", "chain.yaml", text, {.variables = {{"M", "8"}}}),
            "chain.yaml:4:5: `N` has no value; expected --set NAME=VALUE\n");
}

TEST(AccelForge, WidthsByTensorAndByMemory) {
  const Imported net = import_text("auto", "net.yaml", R"(workload:
  rank_sizes: {M: 4, D: 8, E: 2}
  bits_per_value: {All: 8, weight: 4, Q: 16, nobody: 3}
  einsums:
  - "Q[m, e] = I[m, d] * WQ[d, e]"
  - "K[m, e] = I[m, d] * WK[d, e]"
)");
  const auto& layers = net.workloads.at(0).layers;
  ASSERT_EQ(layers.size(), 2U) << "equal shapes, but Q is wider than K";
  EXPECT_EQ(layers[0].layer.bits.of, (std::array<std::optional<int>, kRoles>{8, 4, 16}));
  EXPECT_EQ(layers[1].layer.bits.of, (std::array<std::optional<int>, kRoles>{8, 4, 8}));
  EXPECT_FALSE(layers[0].layer.bits.partial_sums);
  std::string arch(kArch);
  arch.insert(arch.find("  - !Container"),
              "  - !Memory {name: Shared, size: 480, tensors: {keep: All}, bits_per_value: {output: 24}}\n"
              "  - !Memory {name: Sums, size: 480, tensors: {keep: output}, bits_per_value: {output: 24}}\n");
  const Accelerator chip = read_arch(arch);
  const Memory& shared = chip.levels[static_cast<std::size_t>(chip.find_level("Shared"))].memory();
  EXPECT_EQ(shared.word_bits, 8);
  EXPECT_EQ(shared.capacity_words, 60);
  EXPECT_EQ(shared.bits.of, (std::array<std::optional<int>, kRoles>{std::nullopt, std::nullopt, 24}));
  const Memory& sums = chip.levels[static_cast<std::size_t>(chip.find_level("Sums"))].memory();
  EXPECT_EQ(sums.word_bits, 24);
  EXPECT_EQ(sums.capacity_words, 20);
}

TEST(AccelForge, WhatHasNoCounterpartIsRefusedWithItsPlace) {
  const auto with = [](std::string_view node) {
    std::string text(kArch);
    return text.insert(text.find("  - !Container"), std::string(node) + "\n");
  };
  const std::pair<std::string, const char*> cases[] = {
      {with("  - !Toll {name: ADC, tensors: {keep: output}}"), "chip.yaml:20:"},
      {with("  - !Memory {name: Odd, size: foo(3), tensors: {keep: weight}}"),
       "`foo(3)`: the function `foo` is not known"},
      {with("  - !Memory {name: Odd, size: 8, tensors: {keep: weight}, energy_scale: 2}"), "energy_scale"},
      {with("  - !Memory {name: Odd, size: 8, tensors: {keep: Persistent}}"), "the tensors `Persistent`"},
      {with("  - !Memory {name: Odd, size: 8, tensors: {keep: All}, bits_per_value: {output: 24, ~input: 12}}"),
       "two widths for one tensor"},
      {with("  - !Memory {name: Odd, size: 8, tensors: {keep: All}, bits_per_value: {output: 2.5}}"),
       "no whole number of bits"},
      {"workload:\n  bits_per_value: {Intermediates: 4}\n  einsums: []\n", "a width of intermediate tensors"},
      {with("  - !Memory {name: Odd, size: 8, tensors: {keep: All}, total_latency: 5 * reads}"),
       "the latency `5*reads`"},
      {with("  - !Container {name: Odd, spatial: [{name: x, fanout: 2, may_reuse: input}]}"), "multicasts one operand"},
      {with("  - !Container {name: Odd, spatial: [{name: x, fanout: 2, loop_bounds: [1]}]}"), "loop_bounds"},
      {"arch: {nodes: []}\n", "no memory outside"},
      {"workload:\n  rank_sizes: {M: N, N: M}\n  einsums: []\n", "needs itself"},
      {"workload:\n  rank_sizes: {M: 0}\n  einsums: []\n", "not a whole number of at least 1"},
      {"workload:\n  einsums:\n  - \"T[m] = A[m, k] * B[k]\"\n", "net.yaml:3:5: workload.einsums[0]: no size for `k`"},
      {"workload:\n  rank_sizes: {M: 2, K: 2}\n  einsums:\n  - \"T[m] = A[m, k * k] * B[k]\"\n", "the index `k*k`"},
      {"workload:\n  rank_sizes: {M: 1099511627776, N: 1099511627776, K: 9}\n  einsums:\n  - \"T[m, n] = A[m, k] * "
       "B[k, n]\"\n",
       "net.yaml:4:5: T"},
      {"workload:\n  einsums:\n  - T\n", "`T` is no einsum"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string error = import_error("accelforge", text.starts_with("arch") ? "chip.yaml" : "net.yaml", text);
    EXPECT_NE(error.find(expected), std::string::npos) << text << "\n" << error;
  }
  // With --lenient it is left out and listed.
  const Imported lenient = import_text("accelforge", "chip.yaml", cases[0].first, {.lenient = true});
  ASSERT_EQ(lenient.left_out.size(), 1U);
  EXPECT_NE(lenient.left_out[0].text().find("a node `!Toll`"), std::string::npos);
  EXPECT_EQ(lenient.accelerators.size(), 1U);
}

TEST(KnownLayer, ToldByItsIndicesAndNotByItsNames) {
  const Layer attention = parse_layer_text(R"(layer: scores
einsum:
  dims: {h: 4, q: 8, k: 16, e: 32}
  tensors:
    - {name: S, role: outputs, projection: [h, q, k]}
    - {name: A, role: inputs, projection: [h, q, e]}
    - {name: B, role: weights, projection: [h, k, e]}
)",
                                           "layer");
  const auto known = known_layer(attention);
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(known->written_as, "gemm:B=4,M=8,N=16,K=32");
}

}  // namespace
}  // namespace pliant
