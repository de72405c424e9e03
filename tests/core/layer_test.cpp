// SPDX-License-Identifier: Apache-2.0
#include "core/layer.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

std::string dims(const Layer& layer) {
  std::string text;
  for (const Dim& dim : layer.dims) text += dim.name + std::to_string(dim.size) + " ";
  return text;
}

std::string coupled(const Layer& layer, const char* tensor) {
  const DimSet set = layer.coupled(layer.find_tensor(tensor));
  std::string text;
  for (std::size_t d = 0; d < layer.dims.size(); ++d)
    if (set >> d & 1) text += layer.dims[d].name;
  return text;
}

TEST(Layer, PlainConvolution) {
  const Layer layer =
      make_conv("c", {.M = 64, .C = 3, .P = 112, .Q = 112, .R = 7, .S = 7, .stride_p = 2, .stride_q = 2});
  EXPECT_EQ(dims(layer), "M64 C3 P112 Q112 R7 S7 ");
  EXPECT_EQ(coupled(layer, "Inputs"), "CPQRS");
  EXPECT_EQ(coupled(layer, "Weights"), "MCRS");
  EXPECT_EQ(coupled(layer, "Outputs"), "MPQ");
  EXPECT_EQ(layer.macs(), Count{64} * 3 * 112 * 112 * 49);
  EXPECT_EQ(layer.tensor_words(0), 3 * 229 * 229);
  EXPECT_EQ(layer.tensor_words(1), 64 * 3 * 49);
  EXPECT_EQ(layer.tensor_words(2), 64 * 112 * 112);
  EXPECT_EQ(layer.written_as, "conv:M=64,C=3,P=112,Q=112,R=7,S=7,stride=2");
  EXPECT_EQ(layer.output(), 2);
  EXPECT_EQ(layer.find_dim("K"), -1);
  EXPECT_EQ(layer.find_tensor("Bias"), -1);
  EXPECT_EQ(layer.tensors_with_role(Role::kWeight), 2u);
}

TEST(Layer, BatchComesFirstAndWeightsDoNotSeeIt) {
  const Layer layer = make_conv("c", {.B = 4, .M = 2, .C = 2, .P = 5, .Q = 5, .R = 3, .S = 3});
  EXPECT_EQ(dims(layer), "B4 M2 C2 P5 Q5 R3 S3 ");
  EXPECT_EQ(coupled(layer, "Weights"), "MCRS");
  EXPECT_EQ(layer.tensor_words(0), 4 * 2 * 7 * 7);
}

TEST(Layer, GroupsSplitBothChannelDims) {
  const Layer layer = make_conv("c", {.M = 8, .C = 4, .P = 5, .Q = 5, .R = 3, .S = 3, .groups = 2});
  EXPECT_EQ(dims(layer), "G2 M4 C2 P5 Q5 R3 S3 ");
  EXPECT_EQ(coupled(layer, "Inputs"), "GCPQRS");
  EXPECT_EQ(layer.tensor_words(0), 4 * 7 * 7);
  EXPECT_EQ(layer.tensor_words(1), 8 * 2 * 9);
  EXPECT_EQ(layer.tensor_words(2), 8 * 25);
}

TEST(Layer, DepthwiseHasNoM) {
  const Layer layer = make_conv("c", {.M = 8, .C = 8, .P = 5, .Q = 5, .R = 3, .S = 3, .groups = 8});
  EXPECT_EQ(dims(layer), "C8 P5 Q5 R3 S3 ");
  EXPECT_EQ(coupled(layer, "Outputs"), "CPQ");
  EXPECT_EQ(layer.macs(), 8 * 25 * 9);
  EXPECT_EQ(layer.tensor_words(1), 8 * 9);
}

TEST(Layer, DepthwiseWithMultiplierKeepsGroups) {
  const Layer layer = make_conv("c", {.M = 16, .C = 8, .P = 5, .Q = 5, .R = 3, .S = 3, .groups = 8});
  EXPECT_EQ(dims(layer), "G8 M2 C1 P5 Q5 R3 S3 ");
}

TEST(Layer, TransposedScattersOverTheOutputs) {
  const Layer layer = make_conv(
      "c", {.M = 2, .C = 3, .P = 7, .Q = 7, .R = 4, .S = 4, .stride_p = 2, .stride_q = 2, .transposed = true});
  EXPECT_EQ(coupled(layer, "Inputs"), "CPQ");
  EXPECT_EQ(coupled(layer, "Outputs"), "MPQRS");
  EXPECT_EQ(layer.tensor_words(0), 3 * 49);
  EXPECT_EQ(layer.tensor_words(2), 2 * 16 * 16);
  EXPECT_EQ(layer.written_as, "conv:M=2,C=3,P=7,Q=7,R=4,S=4,stride=2,transposed");
}

TEST(Layer, DilationAndUnequalStrides) {
  const Layer layer = make_conv("c", {.P = 5, .Q = 6, .R = 3, .S = 3, .stride_q = 2, .dilation_r = 2, .dilation_s = 2});
  EXPECT_EQ(layer.written_as, "conv:M=1,C=1,P=5,Q=6,R=3,S=3,stride_p=1,stride_q=2,dilation=2");
  EXPECT_EQ(layer.tensor_words(0), 9 * 8);  // 2q + 2s: only every other column is touched
}

TEST(Layer, Gemm) {
  const Layer layer = make_gemm("g", {.M = 4, .N = 5, .K = 6});
  EXPECT_EQ(dims(layer), "M4 N5 K6 ");
  EXPECT_EQ(coupled(layer, "Inputs"), "MK");
  EXPECT_EQ(coupled(layer, "Weights"), "NK");
  EXPECT_EQ(coupled(layer, "Outputs"), "MN");
  const Layer batched = make_gemm("g", {.B = 3, .M = 4, .N = 5, .K = 6});
  EXPECT_EQ(dims(batched), "B3 M4 N5 K6 ");
  EXPECT_EQ(coupled(batched, "Weights"), "BNK");
  EXPECT_EQ(batched.written_as, "gemm:B=3,M=4,N=5,K=6");
}

TEST(Workload, FindsLayersByName) {
  Workload workload;
  workload.layers = {{make_gemm("a", {}), 1}, {make_gemm("b", {}), 2}};
  ASSERT_NE(workload.find("b"), nullptr);
  EXPECT_EQ(workload.find("b")->count, 2);
  EXPECT_EQ(workload.find("c"), nullptr);
}

}  // namespace
}  // namespace pliant
