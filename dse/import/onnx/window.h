// SPDX-License-Identifier: Apache-2.0
// The geometry of convolutions and pooling: ONNX's strides, dilations, pads and auto_pad.
#pragma once

#include <optional>
#include <vector>

#include "dse/import/onnx/graph.h"

namespace pliant::onnx {

struct Window {
  std::vector<Count> kernel, strides, dilations;
  std::vector<Count> outputs;  ///< along each spatial axis
};

/// Of a node over an input [N, C, ...]; `kernel` comes from the weights, or from the attribute kernel_shape. Nothing
/// when sizes are unknown or do not fit.
std::optional<Window> sliding_window(const Node& node, const Shape& input, std::vector<Count> kernel);
/// The same for ConvTranspose.
std::optional<Window> transposed_window(const Node& node, const Shape& input, const std::vector<Count>& kernel);

}  // namespace pliant::onnx
