// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string_view>

#include "core/input/units.h"
#include "dse/import/onnx/constants.h"
#include "dse/import/onnx/shape_rules.h"
#include "dse/import/onnx/window.h"

namespace pliant::onnx {

namespace {

/// Operators whose output has the shape of their first input.
const std::set<std::string_view>& keeps_first_shape() {
  // clang-format off
  static const std::set<std::string_view> names{
      "Relu", "LeakyRelu", "PRelu", "Elu", "Selu", "Celu", "Gelu", "Mish", "Sigmoid", "HardSigmoid", "HardSwish",
      "Swish", "SiLU", "Tanh", "Erf", "Exp", "Log", "Sqrt", "Reciprocal", "Neg", "Abs", "Floor", "Ceil", "Round",
      "Sin", "Cos", "Softplus", "Softmax", "LogSoftmax", "Clip", "Cast", "CastLike", "Identity", "Dropout",
      "BatchNormalization", "InstanceNormalization", "LayerNormalization", "RMSNormalization",
      "SimplifiedLayerNormalization", "GroupNormalization", "LRN", "Not", "IsNaN", "Sign", "Trilu", "CumSum",
      "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "RotaryEmbedding", "SkipLayerNormalization",
      "FastGelu", "BiasGelu", "QuickGelu", "Hardmax", "ThresholdedRelu", "Softsign", "MeanVarianceNormalization",
      "LpNormalization"};
  // clang-format on
  return names;
}

/// Operators whose inputs are broadcast to one shape.
const std::set<std::string_view>& elementwise() {
  // clang-format off
  static const std::set<std::string_view> names{
      "Add", "Sub", "Mul", "Div", "Pow", "Mod", "Max", "Min", "Sum", "Mean", "And", "Or", "Xor", "Equal", "Less",
      "LessOrEqual", "Greater", "GreaterOrEqual", "Where", "BitShift"};
  // clang-format on
  return names;
}

}  // namespace

/// Numpy's broadcasting; nothing when sizes are unknown or do not agree.
std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  Shape all(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Count x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x < 0 || y < 0 || (x != y && x != 1 && y != 1)) return std::nullopt;
    all[all.size() - 1 - i] = x == 1 ? y : x;
  }
  return all;
}

const Value& ShapeRules::input(const Node& node, std::size_t i) const {
  static const Value none;
  if (i >= node.inputs.size() || node.inputs[i].empty()) return none;
  const auto found = values_.find(node.inputs[i]);
  return found == values_.end() ? none : found->second;
}

const std::map<std::string, ShapeRules::Rule>& ShapeRules::rules() {
  static const std::map<std::string, Rule> table{{"Conv", &ShapeRules::conv},
                                                 {"ConvInteger", &ShapeRules::conv},
                                                 {"QLinearConv", &ShapeRules::qlinear_conv},
                                                 {"ConvTranspose", &ShapeRules::conv_transpose},
                                                 {"MaxPool", &ShapeRules::pool},
                                                 {"AveragePool", &ShapeRules::pool},
                                                 {"LpPool", &ShapeRules::pool},
                                                 {"GlobalAveragePool", &ShapeRules::global_pool},
                                                 {"GlobalMaxPool", &ShapeRules::global_pool},
                                                 {"Gemm", &ShapeRules::gemm},
                                                 {"MatMul", &ShapeRules::matmul},
                                                 {"MatMulInteger", &ShapeRules::matmul},
                                                 {"QLinearMatMul", &ShapeRules::qlinear_matmul},
                                                 {"Flatten", &ShapeRules::flatten},
                                                 {"Reshape", &ShapeRules::reshape},
                                                 {"Transpose", &ShapeRules::transpose},
                                                 {"Concat", &ShapeRules::concat},
                                                 {"Unsqueeze", &ShapeRules::unsqueeze},
                                                 {"Squeeze", &ShapeRules::squeeze},
                                                 {"Slice", &ShapeRules::slice},
                                                 {"Gather", &ShapeRules::gather},
                                                 {"Expand", &ShapeRules::expand},
                                                 {"Pad", &ShapeRules::pad},
                                                 {"Resize", &ShapeRules::resize},
                                                 {"Upsample", &ShapeRules::resize},
                                                 {"ReduceMean", &ShapeRules::reduce},
                                                 {"ReduceSum", &ShapeRules::reduce},
                                                 {"ReduceMax", &ShapeRules::reduce},
                                                 {"ReduceMin", &ShapeRules::reduce},
                                                 {"ReduceL2", &ShapeRules::reduce},
                                                 {"ArgMax", &ShapeRules::arg_reduce},
                                                 {"DepthToSpace", &ShapeRules::depth_to_space},
                                                 {"Tile", &ShapeRules::tile},
                                                 {"Einsum", &ShapeRules::einsum},
                                                 {"Attention", &ShapeRules::attention},
                                                 {"MultiHeadAttention", &ShapeRules::attention}};
  return table;
}

std::optional<Shape> ShapeRules::output_shape(const Node& node) const {
  if (keeps_first_shape().contains(node.type)) return shape(node, 0);
  if (elementwise().contains(node.type)) return broadcast_all(node);
  const auto rule = rules().find(node.type);
  return rule == rules().end() ? std::nullopt : (this->*rule->second)(node);
}

std::optional<Shape> ShapeRules::broadcast_all(const Node& node) const {
  auto all = shape(node, 0);
  for (std::size_t i = 1; i < node.inputs.size() && all; ++i) {
    const auto next = shape(node, i);
    all = next ? broadcast(*all, *next) : std::nullopt;
  }
  return all;
}

std::optional<Shape> ShapeRules::convolved(const Node& node, std::size_t weights_at) const {
  const auto in = shape(node, 0), weights = shape(node, weights_at);
  if (!in || !weights || weights->size() != in->size() || in->size() < 3) return std::nullopt;
  const auto window = sliding_window(node, *in, {weights->begin() + 2, weights->end()});
  if (!window) return std::nullopt;
  Shape out{in->at(0), weights->at(0)};
  out.insert(out.end(), window->outputs.begin(), window->outputs.end());
  return out;
}

std::optional<Shape> ShapeRules::conv(const Node& node) const { return convolved(node, 1); }

std::optional<Shape> ShapeRules::qlinear_conv(const Node& node) const { return convolved(node, 3); }

std::optional<Shape> ShapeRules::conv_transpose(const Node& node) const {
  const auto in = shape(node, 0), weights = shape(node, 1);
  if (!in || !weights || weights->size() != in->size() || in->size() < 3) return std::nullopt;
  const auto window = transposed_window(node, *in, {weights->begin() + 2, weights->end()});
  if (!window) return std::nullopt;
  const auto channels = checked_multiply(weights->at(1), std::max<Count>(node.number("group", 1), 1));
  if (!channels) return std::nullopt;
  Shape out{in->at(0), *channels};
  out.insert(out.end(), window->outputs.begin(), window->outputs.end());
  return out;
}

std::optional<Shape> ShapeRules::pool(const Node& node) const {
  const auto in = shape(node, 0);
  const auto window = in ? sliding_window(node, *in, {}) : std::nullopt;
  if (!window) return std::nullopt;
  Shape out{in->at(0), in->at(1)};
  out.insert(out.end(), window->outputs.begin(), window->outputs.end());
  return out;
}

std::optional<Shape> ShapeRules::global_pool(const Node& node) const {
  auto out = shape(node, 0);
  for (std::size_t i = 2; out && i < out->size(); ++i) (*out)[i] = 1;
  return out;
}

std::optional<Shape> ShapeRules::gemm(const Node& node) const {
  const auto a = shape(node, 0), b = shape(node, 1);
  if (!a || !b || a->size() != 2 || b->size() != 2) return std::nullopt;
  return Shape{a->at(node.number("transA", 0) != 0 ? 1 : 0), b->at(node.number("transB", 0) != 0 ? 0 : 1)};
}

std::optional<Shape> ShapeRules::product(const std::optional<Shape>& a, const std::optional<Shape>& b) const {
  if (!a || !b || a->empty() || b->empty()) return std::nullopt;
  Shape left = *a, right = *b;
  const bool row = left.size() == 1, column = right.size() == 1;
  if (row) left.insert(left.begin(), 1);
  if (column) right.push_back(1);
  const auto batch = broadcast({left.begin(), left.end() - 2}, {right.begin(), right.end() - 2});
  if (!batch) return std::nullopt;
  Shape out = *batch;
  if (!row) out.push_back(left[left.size() - 2]);
  if (!column) out.push_back(right.back());
  return out;
}

std::optional<Shape> ShapeRules::matmul(const Node& node) const { return product(shape(node, 0), shape(node, 1)); }

std::optional<Shape> ShapeRules::qlinear_matmul(const Node& node) const {
  return product(shape(node, 0), shape(node, 3));
}

std::optional<Shape> ShapeRules::einsum(const Node& node) const {
  const std::string equation = node.text("equation");
  const std::size_t arrow = equation.find("->");
  if (arrow == std::string::npos) return std::nullopt;
  std::map<char, Count> sizes;
  std::size_t operand = 0, rank = 0;
  for (const char c : equation.substr(0, arrow)) {
    if (c == ',') {
      ++operand;
      rank = 0;
    } else if (c != ' ') {
      const auto in = shape(node, operand);
      if (!in || rank >= in->size()) return std::nullopt;
      sizes[c] = (*in)[rank++];
    }
  }
  Shape out;
  for (const char c : equation.substr(arrow + 2)) {
    if (c == ' ') continue;
    if (!sizes.contains(c)) return std::nullopt;
    out.push_back(sizes.at(c));
  }
  return out;
}

std::optional<Shape> ShapeRules::attention(const Node& node) const { return shape(node, 0); }

}  // namespace pliant::onnx
