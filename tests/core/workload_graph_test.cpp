// SPDX-License-Identifier: Apache-2.0
// Graphs of networks: what fits, how blocks unroll, and that the shipped ones are the published topologies.
#include "core/workload_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/input/load.h"
#include "core/input/write_layer.h"

namespace pliant {
namespace {

const Library kLibrary(std::filesystem::path(PLIANT_SOURCE_DIR) / "configs");

Layer conv(const char* text) { return parse_layer(text, "test"); }

TEST(WorkloadGraph, ConvolutionsSeePaddingAndSkipRows) {
  const TensorExtents made = output_extents(conv("conv:M=8,C=3,P=56,Q=56,R=3,S=3"), 1);
  EXPECT_EQ(made.words, 8 * 56 * 56);
  EXPECT_TRUE(reads_fit(conv("conv:M=4,C=8,P=56,Q=56,R=3,S=3"), 1, 0, made));           // padding of 1
  EXPECT_TRUE(reads_fit(conv("conv:M=4,C=8,P=54,Q=54,R=3,S=3"), 1, 0, made));           // none
  EXPECT_TRUE(reads_fit(conv("conv:M=4,C=8,P=28,Q=28,R=1,S=1,stride=2"), 1, 0, made));  // the last row is not read
  EXPECT_TRUE(reads_fit(conv("conv:M=4,C=8,P=28,Q=28,R=3,S=3,stride=2"), 1, 0, made));
  EXPECT_TRUE(reads_fit(conv("depthwise:C=8,P=56,Q=56,R=5,S=5"), 1, 0, made));
  EXPECT_TRUE(reads_fit(conv("conv:M=4,C=25088,P=1,Q=1,R=1,S=1"), 1, 0, made));  // all of it as a vector
  EXPECT_FALSE(reads_fit(conv("conv:M=4,C=8,P=60,Q=60,R=3,S=3"), 1, 0, made));
  EXPECT_FALSE(reads_fit(conv("conv:M=4,C=8,P=50,Q=56,R=3,S=3"), 1, 0, made));
  EXPECT_FALSE(reads_fit(conv("conv:M=4,C=7,P=56,Q=56,R=3,S=3"), 1, 0, made));
  EXPECT_FALSE(reads_fit(conv("conv:M=4,C=25087,P=1,Q=1,R=1,S=1"), 1, 0, made));
}

TEST(WorkloadGraph, ProductsReadEveryWordEquallyOften) {
  const TensorExtents made = output_extents(conv("gemm:M=16,N=32,K=8"), 1);
  EXPECT_TRUE(reads_fit(conv("gemm:M=16,N=5,K=32"), 1, 0, made));
  EXPECT_TRUE(reads_fit(conv("gemm:M=16,N=5,K=8,B=4"), 1, 0, made));  // four heads
  EXPECT_TRUE(reads_fit(conv("gemm:M=16,N=5,K=8"), 4, 0, made));      // one after the other
  EXPECT_TRUE(reads_fit(conv("gemm:M=5,N=16,K=32"), 1, 1, made));     // as weights
  EXPECT_TRUE(reads_fit(conv("gemm:M=5,N=16,K=8,B=8"), 1, 1, made));  // two query heads to a key head
  EXPECT_FALSE(reads_fit(conv("gemm:M=16,N=5,K=8"), 1, 0, made));
  EXPECT_FALSE(reads_fit(conv("gemm:M=15,N=5,K=32"), 1, 0, made));
}

TEST(WorkloadGraph, BlocksUnrollRoundByRound) {
  const Workload net = parse_workload_text(R"(name: net
layers: [{layer: a, gemm: {M: 4, N: 8, K: 8}}, {layer: b, count: 4, gemm: {M: 4, N: 8, K: 8}}]
graph:
  - {layer: a}
  - {repeat: 3, from: a, nodes: [{layer: b, from: previous}, {op: add, name: s, from: [previous, b]}]}
  - {layer: b, name: last, from: s}
)",
                                           "net.yaml");
  const std::vector<GraphStep> run = run_of(*net.graph);
  std::vector<std::string> text;
  for (const GraphStep& step : run) {
    text.push_back(net.graph->nodes[static_cast<std::size_t>(step.node)].name);
    for (const WorkloadGraph::Edge& edge : step.from) text.back() += " " + std::to_string(edge.node);
  }
  EXPECT_EQ(text, (std::vector<std::string>{"a", "b 0", "s 0 1", "b 2", "s 2 3", "b 4", "s 4 5", "last 6"}));
}

TEST(WorkloadGraph, OnlineIsOfASoftmax) {
  const auto read = [](const std::string& op) {
    return parse_workload_text(
        "name: net\nlayers: [{layer: a, gemm: {M: 4, N: 4, K: 4}}, {layer: b, gemm: {M: 4, N: 4, K: 4}}]\n"
        "graph: [{layer: a}, {op: " +
            op + ", name: rows, online: true, from: a}, {layer: b, from: rows}]\n",
        "net.yaml");
  };
  EXPECT_TRUE(read("softmax").graph->nodes[1].online);
  EXPECT_EQ(parse_workload_text(write_workload(read("softmax")), "written.yaml").graph, read("softmax").graph);
  EXPECT_THROW(read("norm"), InputError);
}

TEST(WorkloadGraph, ChainsFollowWhereShapesFit) {
  const Workload net = parse_workload_text(R"(name: net
chain: true
layers:
  - {layer: a, gemm: {M: 4, N: 8, K: 8}}
  - {layer: b, count: 2, gemm: {M: 4, N: 8, K: 8}}
  - {layer: c, count: 2, gemm: {M: 4, N: 16, K: 8}}
  - {layer: d, gemm: {M: 4, N: 8, K: 8}}
)",
                                           "net.yaml");
  std::vector<int> sources;
  for (const GraphStep& step : run_of(*net.graph)) sources.push_back(step.from.at(0).node);
  // a, b and b again, c reads b twice (its own output is wider), d fits nothing.
  EXPECT_EQ(sources, (std::vector<int>{-1, 0, 1, 2, 2, -1}));
}

struct Published {
  const char* workload;
  int layers, adds, blocks;
};

/// Layers and residual sums as the papers count them. Every edge of a shipped graph fits, and counts agree: the reader
/// refuses it otherwise.
TEST(WorkloadGraph, ShippedTopologies) {
  for (const Published& net :
       {Published{"mobilenet_v2", 53, 10, 4}, Published{"resnet50", 54, 16, 4},
        Published{"bert_base_seq512", 12 * 8, 24, 1}, Published{"llm_llama3_2_1b_decode_1k", 16 * 9 + 1, 48, 1}}) {
    SCOPED_TRACE(net.workload);
    const Workload workload = load_workload(kLibrary, net.workload);
    ASSERT_TRUE(workload.graph.has_value());
    const std::vector<GraphStep> run = run_of(*workload.graph);
    int layers = 0, adds = 0;
    std::set<int> read;
    for (const GraphStep& step : run) {
      const WorkloadGraph::Node& node = workload.graph->nodes[static_cast<std::size_t>(step.node)];
      layers += node.is_layer();
      adds += !node.is_layer() && node.work == WorkloadGraph::Operator::kAdd;
      for (const WorkloadGraph::Edge& edge : step.from)
        if (edge.node >= 0) read.insert(edge.node);
    }
    EXPECT_EQ(layers, net.layers);
    EXPECT_EQ(adds, net.adds);
    EXPECT_EQ(workload.graph->blocks.size(), static_cast<std::size_t>(net.blocks));
    // Nobody reads the network's output; of a decode step also the new keys and values go outside.
    const bool decodes = std::string(net.workload).find("decode") != std::string::npos;
    EXPECT_EQ(run.size() - read.size(), decodes ? 2U * 16 + 1 : 1U);
  }
}

}  // namespace
}  // namespace pliant
