// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "core/input/load.h"
#include "dse/import/formats.h"
#include "support/import_texts.h"
#include "support/onnx_bytes.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

using namespace onnx_bytes;

Bytes small_network() {
  return model(input("x", {-1, 3, 32, 32}) + weight("w1", {16, 3, 3, 3}, 10'000) + weight("w2", {16, 1, 5, 5}) +
               weight("w3", {32, 4, 3, 3}) + weight("w4", {32, 10}) +
               node("Conv", {"x", "w1"}, "a", attribute("strides", {2, 2}) + attribute("pads", {1, 1, 1, 1})) +
               node("Relu", {"a"}, "b") +
               node("Conv", {"b", "w2"}, "c", attribute("group", 16) + word("auto_pad", "SAME_UPPER")) +
               node("Conv", {"c", "w3"}, "d", attribute("group", 4) + attribute("dilations", {2, 2})) +
               node("GlobalAveragePool", {"d"}, "e") + node("Flatten", {"e"}, "f") + node("Gemm", {"f", "w4"}, "y"));
}

TEST(Onnx, ConvolutionsAreReadWithTheirGeometry) {
  const Imported imported = import_text("auto", "net.onnx", small_network());
  const auto& layers = imported.workloads.at(0).layers;
  ASSERT_EQ(layers.size(), 4u);
  EXPECT_EQ(layers[0].layer.name, "n_a");
  EXPECT_EQ(layers[0].layer.written_as, "conv:M=16,C=3,P=16,Q=16,R=3,S=3,stride=2");
  EXPECT_EQ(layers[1].layer.operation, Operation::kDepthwise);
  EXPECT_EQ(layers[1].layer.macs(), 16 * 16 * 16 * 25);
  // 16 - 2 * (3 - 1) = 12 outputs along each side; 4 groups of 4 inputs and 8 filters.
  EXPECT_EQ(layers[2].layer.macs(), 32 * 4 * 12 * 12 * 9);
  EXPECT_EQ(layers[3].layer.written_as, "gemm:M=1,N=10,K=32");
  // The batch is a choice; Relu, pooling and Flatten are listed.
  ASSERT_EQ(imported.choices.size(), 4u);
  EXPECT_NE(imported.choices[1].text().find("Flatten: 1 node without matrix products"), std::string::npos);
}

/// What a graph says, node by node: its work, its words, and the nodes that it reads.
std::vector<std::string> graph_of(const Workload& workload) {
  std::vector<std::string> lines;
  for (const WorkloadGraph::Node& node : workload.graph->nodes) {
    lines.push_back(node.is_layer() ? "layer" : std::string(kOperatorNames[static_cast<std::size_t>(node.work)]));
    lines.back() += " " + std::to_string(node.words);
    for (const WorkloadGraph::Edge& edge : node.from) lines.back() += " " + std::to_string(edge.node);
  }
  return lines;
}

TEST(Onnx, EdgesAreKeptWithTheOperatorsBetween) {
  const Imported imported = import_text("auto", "net.onnx", small_network());
  ASSERT_TRUE(imported.workloads.at(0).graph.has_value());
  EXPECT_EQ(graph_of(imported.workloads[0]),
            (std::vector<std::string>{"layer 4096", "activation 4096 0", "layer 4096 1", "layer 4608 2", "pool 32 3",
                                      "layer 10 4"}));
  // A block with a skip: two branches of one shape, their sum read once more.
  const Imported skip =
      import_text("auto", "net.onnx",
                  model(input("x", {4, 8}) + weight("w", {8, 8}) + node("MatMul", {"x", "w"}, "a") +
                        node("MatMul", {"a", "w"}, "b") + node("Softmax", {"b"}, "s") + node("Add", {"a", "s"}, "c") +
                        node("Transpose", {"c"}, "t", attribute("perm", {1, 0})) + node("MatMul", {"c", "t"}, "y")));
  const Workload& net = skip.workloads.at(0);
  EXPECT_EQ(graph_of(net),
            (std::vector<std::string>{"layer 32", "layer 32 0", "softmax 32 1", "add 32 0 2", "layer 16 3 3"}));
  EXPECT_EQ(parse_workload_text(write_workload(net), "written.yaml").graph, net.graph);
  EXPECT_TRUE(net.graph->nodes[2].online) << "over the last index";
}

/// A block with norms before attention and feed-forward part: it begins and ends with operators without MACs, and its
/// first residual is the network's input.
TEST(Onnx, OperatorsBeforeTheFirstAndAfterTheLastProductAreKept) {
  const Bytes block = model(
      input("x", {1, 16, 8}) + weight("g", {8}) + weight("w", {8, 8}) + weight("up", {8, 32}) +
      weight("down", {32, 8}) + node("LayerNormalization", {"x", "g"}, "n1") + node("MatMul", {"n1", "w"}, "o") +
      node("Add", {"x", "o"}, "r") + node("LayerNormalization", {"r", "g"}, "n2") + node("MatMul", {"n2", "up"}, "u") +
      node("Relu", {"u"}, "a") + node("MatMul", {"a", "down"}, "d") + node("Add", {"r", "d"}, "y") + output("y"));
  const Workload net = import_text("auto", "net.onnx", block).workloads.at(0);
  EXPECT_EQ(graph_of(net), (std::vector<std::string>{"norm 128 -1", "layer 128 0", "add 128 -1 1", "norm 128 2",
                                                     "layer 512 3", "activation 512 4", "layer 128 5", "add 128 2 6"}));
  EXPECT_EQ(parse_workload_text(write_workload(net), "written.yaml").graph, net.graph);
}

/// A second head gives away what the first one goes on with: it is written out although it is read inside.
TEST(Onnx, OutputsThatAreReadInsideAreGivenAway) {
  const Bytes heads = model(input("x", {4, 8}) + weight("w", {8, 8}) + node("MatMul", {"x", "w"}, "a") +
                            node("Relu", {"a"}, "features") + node("MatMul", {"features", "w"}, "y") + output("y") +
                            output("features"));
  const Workload net = import_text("auto", "net.onnx", heads).workloads.at(0);
  EXPECT_EQ(graph_of(net), (std::vector<std::string>{"layer 32", "activation 32 0", "output 32 1", "layer 32 1"}));
  EXPECT_EQ(parse_workload_text(write_workload(net), "written.yaml").graph, net.graph);
}

/// Queries, keys and values of one product: each part is read alone.
TEST(Onnx, PartsOfATensorAreReadAlone) {
  const Bytes split = model(input("x", {4, 8}) + weight("w", {8, 12}) + weight("v", {4, 8}) + numbers("at", {0}) +
                            numbers("to", {4}) + numbers("axis", {1}) + node("MatMul", {"x", "w"}, "qkv") +
                            node("Slice", {"qkv", "at", "to", "axis"}, "q") + node("MatMul", {"q", "v"}, "a") +
                            node("ReduceSum", {"qkv"}, "s", attribute("axes", std::vector<std::int64_t>{1})) +
                            output("a") + output("s"));
  EXPECT_EQ(graph_of(import_text("auto", "net.onnx", split).workloads.at(0)),
            (std::vector<std::string>{"layer 48", "part 16 0", "layer 32 1", "pool 4 0"}));
}

TEST(Onnx, TheOperatorThatHasNoShapeIsNamed) {
  const std::string error = import_error(
      "auto", "net.onnx",
      model(input("x", {4, 8}) + weight("w", {8, 8}) + node("MatMul", {"x", "w"}, "a") + node("Mystery", {"a"}, "b") +
            node("Relu", {"b"}, "c") + node("MatMul", {"c", "w"}, "y") + output("y")));
  EXPECT_NE(error.find("n_y` (MatMul): its shape cannot be inferred, for the shape of what `n_b` (Mystery) makes"),
            std::string::npos)
      << error;
}

TEST(Onnx, OperatorsThatNobodyReadsAreNamed) {
  const Imported imported = import_text(
      "auto", "net.onnx",
      model(input("x", {4, 8}) + weight("w", {8, 8}) + node("MatMul", {"x", "w"}, "y") +
            node("ReduceMax", {"y"}, "most", attribute("axes", std::vector<std::int64_t>{1})) + output("y")));
  EXPECT_EQ(graph_of(imported.workloads.at(0)), (std::vector<std::string>{"layer 32"}));
  ASSERT_EQ(imported.choices.size(), 2u);
  const std::string told = imported.choices[1].text();
  EXPECT_NE(told.find("n_most: left out: nobody reads the 4 words that this operator makes"), std::string::npos)
      << told;
}

/// GELU and normalisation, written out as older exporters do, are one operator each.
TEST(Onnx, ElementaryOperatorsOnOneTensorAreOneOperator) {
  const Bytes gelu =
      model(input("x", {4, 8}) + weight("w", {8, 8}) + weight("c", {}) + node("MatMul", {"x", "w"}, "m") +
            node("Add", {"m", "c"}, "b") + node("Div", {"b", "c"}, "d") + node("Erf", {"d"}, "e") +
            node("Add", {"e", "c"}, "f") + node("Mul", {"b", "f"}, "g") + node("Mul", {"g", "c"}, "h") +
            node("MatMul", {"h", "w"}, "y") + output("y"));
  EXPECT_EQ(
      graph_of(import_text("auto", "net.onnx", gelu).workloads.at(0)),
      (std::vector<std::string>{"layer 32", "activation 32 0", "activation 32 1", "activation 32 2", "layer 32 3"}));
  const auto mean = [](const std::string& of, const std::string& name) {
    return node("ReduceMean", {of}, name, attribute("axes", std::vector<std::int64_t>{1}));
  };
  const Bytes norm = model(input("x", {4, 8}) + weight("w", {8, 8}) + weight("c", {8}) +
                           node("MatMul", {"x", "w"}, "m") + mean("m", "a") + node("Sub", {"m", "a"}, "s") +
                           node("Pow", {"s", "c"}, "p") + mean("p", "v") + node("Add", {"v", "c"}, "e") +
                           node("Sqrt", {"e"}, "q") + node("Div", {"s", "q"}, "d") + node("Mul", {"d", "c"}, "g") +
                           node("Add", {"g", "c"}, "h") + node("MatMul", {"h", "w"}, "y") + output("y"));
  EXPECT_EQ(graph_of(import_text("auto", "net.onnx", norm).workloads.at(0)),
            (std::vector<std::string>{"layer 32", "norm 32 0", "layer 32 1"}));
  // Not where something inside is read elsewhere.
  const Bytes shared =
      model(input("x", {4, 8}) + weight("w", {8, 8}) + node("MatMul", {"x", "w"}, "m") + node("Sigmoid", {"m"}, "s") +
            node("Mul", {"m", "s"}, "g") + node("MatMul", {"g", "w"}, "y") + node("MatMul", {"s", "w"}, "z") +
            output("y") + output("z"));
  EXPECT_EQ(graph_of(import_text("auto", "net.onnx", shared).workloads.at(0)),
            (std::vector<std::string>{"layer 32", "activation 32 0", "add 32 0 1", "layer 32 2", "layer 32 1"}));
}

TEST(Onnx, SizesOfOpenDimsAreGiven) {
  const Bytes open =
      model(input("image", {-1, 3, -1, -1}, "side") + weight("w", {4, 3, 3, 3}) + node("Conv", {"image", "w"}, "a") +
            node("Relu", {"a"}, "b") + node("Conv", {"b", "v"}, "c") + weight("v", {4, 4, 1, 1}));
  // One line for all layers, with the names that --dims takes.
  const std::string told = import_error("auto", "n.onnx", open);
  EXPECT_NE(told.find("inputs: dims without a size: side;"), std::string::npos) << told;
  EXPECT_NE(told.find("--dims side=N"), std::string::npos) << told;
  EXPECT_EQ(std::ranges::count(told, '\n'), 1) << told;
  const Imported given = import_text("auto", "n.onnx", open, {.variables = {{"side", "10"}, {"image.0", "2"}}});
  EXPECT_EQ(given.workloads.at(0).layers.at(0).layer.macs(), 10 * 4 * 3 * 8 * 8 * 9);
  EXPECT_NE(import_error("auto", "n.onnx", open, {.variables = {{"sides", "10"}}})
                .find("sides: no dim of an input has this name and no size; expected one of image.0, image.2, image.3, "
                      "side; did you mean side?"),
            std::string::npos);
  EXPECT_NE(import_error("auto", "n.onnx", open, {.variables = {{"side", "0"}}}).find("side: `0`; expected a size"),
            std::string::npos);
}

TEST(Onnx, EqualLayersAreCountedAndProductsBroadcast) {
  const Imported imported = import_text(
      "auto", "net.onnx",
      model(input("x", {2, 4, 7, 8}) + input("k", {2, 4, 8, 7}) + weight("w", {8, 5}) + weight("h", {1, 4, 8, 3}) +
            node("MatMul", {"x", "k"}, "a") + node("MatMul", {"x", "k"}, "b") + node("MatMul", {"x", "w"}, "c") +
            node("MatMul", {"x", "h"}, "d") + node("Einsum", {"x", "k"}, "e", word("equation", "bhik,bhkj->bhij"))));
  const auto& layers = imported.workloads.at(0).layers;
  ASSERT_EQ(layers.size(), 3u);
  EXPECT_EQ(layers[0].layer.written_as, "gemm:B=8,M=7,N=7,K=8");
  EXPECT_EQ(layers[0].count, 3);  // two products and the same one as an einsum
  EXPECT_EQ(layers[1].layer.written_as, "gemm:M=56,N=5,K=8");
  EXPECT_EQ(layers[2].layer.written_as, "gemm:B=4,M=14,N=3,K=8");
}

TEST(Onnx, ShapesFollowConstantsAndViews) {
  // A transformer's split into heads: [2, 6, 24] -> [2, 6, 4, 6] -> [2, 4, 6, 6], with the sizes computed in the graph.
  const Imported imported = import_text(
      "auto", "net.onnx",
      model(input("x", {2, 6, 24}) + numbers("tail", {4, -1}) + numbers("zero", {0}) + numbers("two", {2}) +
            node("Shape", {"x"}, "s") + node("Slice", {"s", "zero", "two"}, "head") +
            node("Concat", {"head", "tail"}, "sizes", attribute("axis", 0)) + node("Reshape", {"x", "sizes"}, "r") +
            node("Transpose", {"r"}, "t", attribute("perm", {0, 2, 1, 3})) +
            node("Transpose", {"r"}, "u", attribute("perm", {0, 2, 3, 1})) + node("MatMul", {"t", "u"}, "y")));
  EXPECT_EQ(imported.workloads.at(0).layers.at(0).layer.written_as, "gemm:B=8,M=6,N=6,K=6");
}

/// A slice whose end is computed and then reshaped, as an older exporter writes the split into heads.
TEST(Onnx, ShapesThatTheGraphComputesAreComputed) {
  const Imported imported = import_text(
      "auto", "net.onnx",
      model(input("x", {1, 6, 24}) + numbers("three", {3}) + numbers("two", {2}) + numbers("one", {1}) +
            numbers("zero", {0}) + numbers("tail", {4, 6}) + node("Shape", {"x"}, "s") +
            node("Mod", {"two", "three"}, "m") + node("Reshape", {"m", "one"}, "end") +
            node("Slice", {"s", "zero", "end"}, "head") +
            node("Concat", {"head", "tail"}, "sizes", attribute("axis", 0)) + node("Reshape", {"x", "sizes"}, "r") +
            node("Transpose", {"r"}, "t", attribute("perm", {0, 2, 1, 3})) +
            node("Transpose", {"r"}, "u", attribute("perm", {0, 2, 3, 1})) + node("MatMul", {"t", "u"}, "y") +
            output("y")));
  EXPECT_EQ(imported.workloads.at(0).layers.at(0).layer.written_as, "gemm:B=4,M=6,N=6,K=6");
  EXPECT_EQ(graph_of(imported.workloads[0]), (std::vector<std::string>{"layer 144"}));
}

TEST(Onnx, TransposedAndQuantizedConvolutionsAndAttention) {
  const Imported imported = import_text(
      "auto", "net.onnx",
      model(input("x", {1, 8, 5, 5}) + weight("w", {8, 4, 2, 2}) + weight("q", {6, 8, 3, 3}) + weight("scale", {}) +
            input("h", {1, 9, 32}) + node("ConvTranspose", {"x", "w"}, "a", attribute("strides", {2, 2})) +
            node("QLinearConv", {"x", "scale", "scale", "q", "scale", "scale", "scale", "scale"}, "b") +
            node("MultiHeadAttention", {"h", "h", "h"}, "c", attribute("num_heads", 4), "com.microsoft")));
  const auto& layers = imported.workloads.at(0).layers;
  ASSERT_EQ(layers.size(), 4u);
  EXPECT_EQ(layers[0].layer.macs(), 8 * 4 * 25 * 4);
  EXPECT_EQ(layers[1].layer.written_as, "conv:M=6,C=8,P=3,Q=3,R=3,S=3");
  EXPECT_EQ(layers[2].layer.written_as, "gemm:B=4,M=9,N=9,K=8");
  EXPECT_EQ(layers[3].layer.written_as, "gemm:B=4,M=9,N=8,K=9");
}

// 2 * (8 - 1) + 4 = 18 along each side, of which pads leave 16.
TEST(Onnx, OfATransposedConvolutionTheBordersAreTold) {
  const auto cropped = [](const std::string& pads) {
    return import_text(
        "auto", "net.onnx",
        model(input("x", {1, 4, 8, 8}) + weight("w", {4, 4, 4, 4}) +
              node("ConvTranspose", {"x", "w"}, "y", attribute("strides", {2, 2}) + pads) + output("y")));
  };
  const auto told = [](const Imported& imported) {
    return std::ranges::count_if(imported.choices, [](const ImportNote& note) {
      return note.what.find("1.27 times the words") != std::string::npos;
    });
  };
  const Imported padded = cropped(attribute("pads", {1, 1, 1, 1})), whole = cropped("");
  EXPECT_EQ(told(padded), 1);
  EXPECT_EQ(told(whole), 0);
  // Cutting them off moves nothing: an activation, not a pool that reads and writes.
  EXPECT_EQ(graph_of(padded.workloads.at(0)), (std::vector<std::string>{"layer 1296", "activation 1024 0"}));
  EXPECT_EQ(graph_of(whole.workloads.at(0)), (std::vector<std::string>{"layer 1296"}));
}

TEST(Onnx, FilesAreReadWithoutTheirWeights) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "net.onnx";
  std::ofstream(file, std::ios::binary) << small_network();
  EXPECT_EQ(import_files("auto", {file}, {}).workloads.at(0).layers.size(), 4u);
}

TEST(Onnx, WhatHasNoCounterpartIsNamed) {
  const Bytes recurrent =
      model(input("x", {1, 2, 3}) + weight("w", {3, 4}) + node("LSTM", {"x"}, "y") + node("MatMul", {"x", "w"}, "z"));
  EXPECT_NE(
      import_error("auto", "n.onnx", recurrent).find("node `n_y` (LSTM): an operator that has no counterpart here"),
      std::string::npos);
  EXPECT_EQ(import_text("auto", "n.onnx", recurrent, {.lenient = true}).left_out.size(), 1u);
  const Bytes unknown = model(input("x", {1, -1, 3}) + weight("w", {3, 4}) + node("MatMul", {"x", "w"}, "z"));
  EXPECT_NE(import_error("auto", "n.onnx", unknown).find("inputs: dims without a size: batch; "), std::string::npos);
}

TEST(Onnx, BadGraphsEndInAnError) {
  const Bytes cycle = model(weight("w", {3, 3}) + node("Add", {"b", "w"}, "a") + node("Add", {"a", "w"}, "b"));
  EXPECT_NE(import_error("onnx", "n.onnx", cycle).find("needs `b`, which only a later node makes: a cycle"),
            std::string::npos);
  const Bytes missing = model(weight("w", {3, 3}) + node("MatMul", {"nothing", "w"}, "a"));
  EXPECT_NE(import_error("onnx", "n.onnx", missing).find("which nothing makes"), std::string::npos);
  const Bytes huge =
      model(input("x", {1LL << 40, 1LL << 40}) + weight("w", {1LL << 40, 2}) + node("MatMul", {"x", "w"}, "a"));
  EXPECT_NE(import_error("onnx", "n.onnx", huge).find("too many"), std::string::npos);
  const Bytes misfit = model(input("x", {4, 5}) + weight("w", {6, 2}) + node("MatMul", {"x", "w"}, "a"));
  EXPECT_NE(import_error("onnx", "n.onnx", misfit).find("shapes 4 x 5 and 6 x 2 do not fit"), std::string::npos);
  EXPECT_NE(import_error("onnx", "n.onnx", "not protobuf at all").find("byte "), std::string::npos);
}

TEST(Onnx, EveryTruncationEndsInAnErrorOrAGraph) {
  const Bytes whole = small_network();
  int broken = 0;
  for (std::size_t length = 1; length < whole.size(); length += length < 500 || length > whole.size() - 800 ? 1 : 97) {
    broken += import_error("onnx", "n.onnx", std::string_view(whole).substr(0, length)).empty() ? 0 : 1;
  }
  EXPECT_GT(broken, 1000);
}

}  // namespace
}  // namespace pliant
