// SPDX-License-Identifier: Apache-2.0
// Whole networks as exporters write them cost what the shipped files of the same networks do. Their shapes are public;
// weights are shapes without data.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>

#include "core/input/load.h"
#include "dse/mappers/residency/residency.h"
#include "support/import_texts.h"
#include "support/onnx_bytes.h"
#include "support/shipped_library.h"

namespace pliant {
namespace {

using namespace onnx_bytes;

/// Writes a graph node by node; a value is known by the name that the node's method returns.
class GraphBytes {
 public:
  explicit GraphBytes(const std::vector<std::int64_t>& shape) { bytes_ += input("x", shape); }

  std::string conv(const std::string& from, std::int64_t out, std::int64_t in, std::int64_t filter, std::int64_t stride,
                   std::int64_t groups = 1) {
    const std::int64_t pad = filter / 2;
    return operation("Conv", {from, weights({out, in / groups, filter, filter}), weights({out})},
                     attribute("kernel_shape", {filter, filter}) + attribute("strides", {stride, stride}) +
                         attribute("pads", {pad, pad, pad, pad}) + attribute("group", groups));
  }
  /// Clips between two constants, as ReLU6 is exported.
  std::string clip(const std::string& from) { return operation("Clip", {from, weights({}), weights({})}); }
  /// A product with weights and its bias.
  std::string linear(const std::string& from, std::int64_t in, std::int64_t out) {
    return operation("Add", {operation("MatMul", {from, weights({in, out})}), weights({out})});
  }
  std::string operation(const std::string& type, const std::vector<std::string>& from, const Bytes& attributes = "") {
    const std::string made = fmt::format("v{}", ++values_);
    bytes_ += node(type, from, made, attributes);
    return made;
  }
  std::string weights(const std::vector<std::int64_t>& shape) {
    const std::string name = fmt::format("w{}", ++values_);
    bytes_ += weight(name, shape);
    return name;
  }
  std::string shape(const std::vector<std::int64_t>& sizes) {
    const std::string name = fmt::format("s{}", ++values_);
    bytes_ += numbers(name, sizes);
    return name;
  }
  Bytes giving(const std::string& value) const { return model(bytes_ + output(value)); }

 private:
  Bytes bytes_;
  int values_ = 0;
};

Bytes mobilenet_v2_bytes() {
  GraphBytes g({1, 3, 224, 224});
  std::string x = g.clip(g.conv("x", 32, 3, 3, 2));
  struct Stage {
    std::int64_t expansion, channels, blocks, stride;
  };
  std::int64_t in = 32;
  for (const Stage& stage : {Stage{1, 16, 1, 1}, Stage{6, 24, 2, 2}, Stage{6, 32, 3, 2}, Stage{6, 64, 4, 2},
                             Stage{6, 96, 3, 1}, Stage{6, 160, 3, 2}, Stage{6, 320, 1, 1}})
    for (std::int64_t block = 0; block < stage.blocks; ++block) {
      const std::int64_t stride = block == 0 ? stage.stride : 1, inside = in * stage.expansion;
      std::string y = stage.expansion == 1 ? x : g.clip(g.conv(x, inside, in, 1, 1));
      y = g.conv(g.clip(g.conv(y, inside, inside, 3, stride, inside)), stage.channels, inside, 1, 1);
      x = stride == 1 && in == stage.channels ? g.operation("Add", {x, y}) : y;
      in = stage.channels;
    }
  x = g.operation("GlobalAveragePool", {g.clip(g.conv(x, 1280, in, 1, 1))});
  x = g.operation("Gemm", {g.operation("Flatten", {x}), g.weights({1000, 1280}), g.weights({1000})},
                  attribute("transB", 1));
  return g.giving(x);
}

Bytes resnet50_bytes() {
  GraphBytes g({1, 3, 224, 224});
  const auto relu = [&](const std::string& from) { return g.operation("Relu", {from}); };
  std::string x =
      g.operation("MaxPool", {relu(g.conv("x", 64, 3, 7, 2))},
                  attribute("kernel_shape", {3, 3}) + attribute("strides", {2, 2}) + attribute("pads", {1, 1, 1, 1}));
  std::int64_t in = 64, width = 64;
  for (const std::int64_t blocks : {3, 4, 6, 3}) {
    for (std::int64_t block = 0; block < blocks; ++block) {
      const std::int64_t stride = block == 0 && width > 64 ? 2 : 1, out = 4 * width;
      std::string y = relu(g.conv(x, width, in, 1, 1));
      y = g.conv(relu(g.conv(y, width, width, 3, stride)), out, width, 1, 1);
      x = relu(g.operation("Add", {y, block == 0 ? g.conv(x, out, in, 1, stride) : x}));
      in = out;
    }
    width *= 2;
  }
  x = g.operation("Flatten", {g.operation("GlobalAveragePool", {x})});
  return g.giving(g.operation("Gemm", {x, g.weights({1000, 2048}), g.weights({1000})}, attribute("transB", 1)));
}

Bytes bert_base_bytes() {
  constexpr std::int64_t kTokens = 512, kHidden = 768, kHeads = 12, kHead = kHidden / kHeads, kInside = 3072;
  GraphBytes g({1, kTokens, kHidden});
  const auto heads = [&](const std::string& from, const std::vector<std::int64_t>& order) {
    const std::string apart = g.operation("Reshape", {from, g.shape({1, kTokens, kHeads, kHead})});
    return g.operation("Transpose", {apart}, attribute("perm", order));
  };
  const auto norm = [&](const std::string& a, const std::string& b) {
    return g.operation("LayerNormalization", {g.operation("Add", {a, b}), g.weights({kHidden}), g.weights({kHidden})});
  };
  std::string x = "x";
  for (int layer = 0; layer < 12; ++layer) {
    const std::string q = heads(g.linear(x, kHidden, kHidden), {0, 2, 1, 3}),
                      k = heads(g.linear(x, kHidden, kHidden), {0, 2, 3, 1}),
                      v = heads(g.linear(x, kHidden, kHidden), {0, 2, 1, 3});
    const std::string score = g.operation("Div", {g.operation("MatMul", {q, k}), g.weights({})});
    const std::string context = g.operation("MatMul", {g.operation("Softmax", {score}), v});
    const std::string together = g.operation(
        "Reshape",
        {g.operation("Transpose", {context}, attribute("perm", {0, 2, 1, 3})), g.shape({1, kTokens, kHidden})});
    x = norm(x, g.linear(together, kHidden, kHidden));
    // GELU, written out.
    const std::string up = g.linear(x, kHidden, kInside);
    const std::string erf = g.operation("Erf", {g.operation("Div", {up, g.weights({})})});
    const std::string gelu =
        g.operation("Mul", {g.operation("Mul", {up, g.operation("Add", {erf, g.weights({})})}), g.weights({})});
    x = norm(x, g.linear(gelu, kInside, kHidden));
  }
  return g.giving(x);
}

void expect_cost_of(const char* shipped, const Bytes& bytes) {
  SCOPED_TRACE(shipped);
  const Workload ours = load_workload(library(), shipped);
  const Workload imported = import_text("onnx", "net.onnx", bytes).workloads.at(0);
  const Accelerator npu = load_accelerator(library(), "npu");
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  const SearchOptions options;
  const auto optimum = [&](const Workload& workload) {
    std::vector<Task> rows;
    for (const Workload::Entry& entry : workload.layers)
      rows.push_back({entry.layer, npu, npu.flexibility_of(entry.layer)});
    return residency::Search(*exact, workload, rows, options).run({Objective::kEdp}, true);
  };
  const residency::Optimum a = optimum(ours), b = optimum(imported);
  ASSERT_TRUE(a.certified && b.certified);
  EXPECT_NEAR(b.energy_pj / a.energy_pj, 1, 1e-12);
  EXPECT_NEAR(b.cycles / a.cycles, 1, 1e-12);
  EXPECT_NEAR(b.value / a.value, 1, 1e-12);
}

TEST(OnnxNetworks, MobileNetV2CostsWhatTheShippedFileDoes) { expect_cost_of("mobilenet_v2", mobilenet_v2_bytes()); }
TEST(OnnxNetworks, ResNet50CostsWhatTheShippedFileDoes) { expect_cost_of("resnet50", resnet50_bytes()); }
TEST(OnnxNetworks, BertCostsWhatTheShippedFileDoes) { expect_cost_of("bert_base_seq512", bert_base_bytes()); }

}  // namespace
}  // namespace pliant
