// SPDX-License-Identifier: Apache-2.0
// Small tensors of whole numbers that a graph computes from shapes, because other shapes depend on them.
#pragma once

#include <functional>
#include <optional>

#include "dse/import/onnx/graph.h"

namespace pliant::onnx {

/// The output of a node whose elements are known: Constant, Shape, and arithmetic on known elements.
std::optional<Value> fold_constant(const Node& node, const std::function<const Value&(std::size_t)>& input);

/// An axis that may count from the end; nothing when there is none of that number.
std::optional<std::size_t> axis_in(Count axis, std::size_t rank);
/// Elements of a slice [start, end) with a step, as numpy counts them.
Count slice_length(Count size, Count start, Count end, Count step);
/// Product of the sizes; nothing when one is unknown or the product too large.
std::optional<Count> elements_of(const Shape& shape);

}  // namespace pliant::onnx
