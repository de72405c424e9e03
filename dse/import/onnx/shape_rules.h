// SPDX-License-Identifier: Apache-2.0
// The shape of a node's output, operator by operator. A rule gives nothing when it cannot tell.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dse/import/onnx/graph.h"

namespace pliant::onnx {

class ShapeRules {
 public:
  explicit ShapeRules(const std::map<std::string, Value>& values) : values_(values) {}

  std::optional<Shape> output_shape(const Node& node) const;
  /// Split has several outputs.
  void split(const Node& node, std::vector<Value>& outputs) const;
  const Value& input(const Node& node, std::size_t i) const;

 private:
  using Rule = std::optional<Shape> (ShapeRules::*)(const Node&) const;
  static const std::map<std::string, Rule>& rules();  ///< by operator

  std::optional<Shape> shape(const Node& node, std::size_t i) const { return input(node, i).shape; }
  std::optional<Shape> broadcast_all(const Node& node) const;
  std::optional<Shape> convolved(const Node& node, std::size_t weights_at) const;
  std::optional<Shape> conv(const Node& node) const;
  std::optional<Shape> qlinear_conv(const Node& node) const;
  std::optional<Shape> conv_transpose(const Node& node) const;
  std::optional<Shape> pool(const Node& node) const;
  std::optional<Shape> global_pool(const Node& node) const;
  std::optional<Shape> gemm(const Node& node) const;
  std::optional<Shape> product(const std::optional<Shape>& a, const std::optional<Shape>& b) const;
  std::optional<Shape> matmul(const Node& node) const;
  std::optional<Shape> qlinear_matmul(const Node& node) const;
  std::optional<Shape> flatten(const Node& node) const;
  std::optional<Shape> reshape(const Node& node) const;
  std::optional<Shape> transpose(const Node& node) const;
  std::optional<Shape> concat(const Node& node) const;
  /// Axes of an attribute (older operators) or of an input.
  std::vector<Count> axes_of(const Node& node, std::size_t at) const;
  std::optional<Shape> unsqueeze(const Node& node) const;
  std::optional<Shape> squeeze(const Node& node) const;
  std::optional<Shape> slice(const Node& node) const;
  std::optional<Shape> gather(const Node& node) const;
  std::optional<Shape> expand(const Node& node) const;
  std::optional<Shape> pad(const Node& node) const;
  std::optional<Shape> resize(const Node& node) const;
  std::optional<Shape> reduced(const Node& node, std::vector<Count> axes) const;
  std::optional<Shape> reduce(const Node& node) const;
  std::optional<Shape> arg_reduce(const Node& node) const;
  std::optional<Shape> depth_to_space(const Node& node) const;
  std::optional<Shape> tile(const Node& node) const;
  std::optional<Shape> einsum(const Node& node) const;
  /// Attention gives something of the queries' shape (the packed form: its own hidden size is the values').
  std::optional<Shape> attention(const Node& node) const;

  const std::map<std::string, Value>& values_;  ///< of everything the graph has made so far
};

/// Numpy's broadcasting; nothing when sizes are unknown or do not agree.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

}  // namespace pliant::onnx
