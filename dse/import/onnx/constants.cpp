// SPDX-License-Identifier: Apache-2.0
#include "dse/import/onnx/constants.h"

#include <algorithm>
#include <cstddef>

#include "core/input/units.h"

namespace pliant::onnx {
namespace {

using Elements = std::vector<Count>;
using Input = std::function<const Value&(std::size_t)>;

/// Longer lists of numbers decide no shape.
constexpr std::size_t kMostElements = 64;

Value known(Elements elements, std::optional<Shape> shape = std::nullopt) {
  Value value;
  value.shape = shape ? *shape : Shape{static_cast<Count>(elements.size())};
  value.elements = std::move(elements);
  return value;
}

std::optional<Value> constant(const Node& node) {
  const auto tensor = node.attributes.find("value");
  if (tensor != node.attributes.end() && tensor->second.tensor) return tensor->second.tensor;
  if (node.attributes.contains("value_int")) return known({node.number("value_int", 0)}, Shape{});
  if (node.attributes.contains("value_ints")) return known(node.numbers("value_ints"));
  return std::nullopt;
}

std::optional<Value> shape_of(const Node& node, const Input& input) {
  const auto& shape = input(0).shape;
  if (!shape || std::ranges::any_of(*shape, [](Count d) { return d < 0; })) return std::nullopt;
  const auto rank = static_cast<Count>(shape->size());
  const auto clamp = [&](Count at) { return std::clamp<Count>(at < 0 ? at + rank : at, 0, rank); };
  const Count start = clamp(node.number("start", 0)), end = clamp(node.number("end", rank));
  return known({shape->begin() + start, shape->begin() + std::max(start, end)});
}

std::optional<Value> gathered(const Node& node, const Input& input) {
  const auto &data = input(0).elements, &indices = input(1).elements;
  if (!data || !indices || node.number("axis", 0) != 0 || !input(0).shape || input(0).shape->size() != 1)
    return std::nullopt;
  Elements all;
  for (Count index : *indices) {
    if (index < 0) index += static_cast<Count>(data->size());
    if (index < 0 || index >= static_cast<Count>(data->size())) return std::nullopt;
    all.push_back((*data)[static_cast<std::size_t>(index)]);
  }
  return known(std::move(all), input(1).shape);
}

std::optional<Value> concatenated(const Node& node, const Input& input) {
  Elements all;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const auto& own = input(i).elements;
    if (!own || !input(i).shape || input(i).shape->size() != 1 || all.size() + own->size() > kMostElements)
      return std::nullopt;
    all.insert(all.end(), own->begin(), own->end());
  }
  return known(std::move(all));
}

std::optional<Value> sliced(const Node& node, const Input& input) {
  const auto& data = input(0).elements;
  const bool old = node.attributes.contains("starts");
  const auto starts = old ? std::optional(node.numbers("starts")) : input(1).elements;
  const auto ends = old ? std::optional(node.numbers("ends")) : input(2).elements;
  const auto steps = input(4).elements.value_or(Elements{1});
  if (!data || !starts || !ends || starts->size() != 1 || ends->size() != 1 || steps != Elements{1})
    return std::nullopt;
  if (!input(0).shape || input(0).shape->size() != 1) return std::nullopt;
  const auto size = static_cast<Count>(data->size());
  const Count length = slice_length(size, starts->front(), ends->front(), 1);
  const Count start = std::clamp<Count>(starts->front() < 0 ? starts->front() + size : starts->front(), 0, size);
  return known({data->begin() + start, data->begin() + start + length});
}

std::optional<Count> apply(const std::string& type, Count a, Count b) {
  if (type == "Add") return checked_add(a, b);
  if (type == "Sub") return b == INT64_MIN ? std::nullopt : checked_add(a, -b);
  if (type == "Mul") return checked_multiply(a, b);
  if (type == "Max") return std::max(a, b);
  if (type == "Min") return std::min(a, b);
  if (type == "Equal") return a == b ? 1 : 0;
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  return type == "Div" ? a / b : a % b;
}

std::optional<Value> arithmetic(const Node& node, const Input& input) {
  const auto &a = input(0).elements, &b = input(1).elements;
  if (!a || !b || a->empty() || b->empty() || (a->size() != b->size() && a->size() != 1 && b->size() != 1))
    return std::nullopt;
  Elements all;
  for (std::size_t i = 0; i < std::max(a->size(), b->size()); ++i) {
    const auto value = apply(node.type, (*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
    if (!value) return std::nullopt;
    all.push_back(*value);
  }
  return known(std::move(all), a->size() >= b->size() ? input(0).shape : input(1).shape);
}

std::optional<Value> chosen(const Input& input) {
  const auto &which = input(0).elements, &a = input(1).elements, &b = input(2).elements;
  if (!which || !a || !b || a->size() != which->size() || b->size() != which->size()) return std::nullopt;
  Elements all;
  for (std::size_t i = 0; i < which->size(); ++i) all.push_back((*which)[i] != 0 ? (*a)[i] : (*b)[i]);
  return known(std::move(all), input(0).shape);
}

/// The same elements in another shape.
std::optional<Value> reshaped(const Node& node, const Input& input) {
  const auto& elements = input(0).elements;
  if (!elements) return std::nullopt;
  if (node.type == "Unsqueeze" && elements->size() == 1) return known(*elements);
  if (node.type == "Squeeze" && elements->size() == 1) return known(*elements, Shape{});
  if (node.type == "Reshape" && input(1).elements) {
    Shape shape = *input(1).elements;
    const auto open = std::ranges::find(shape, -1);
    if (open != shape.end()) *open = 1;
    const auto rest = elements_of(shape);
    const auto size = static_cast<Count>(elements->size());
    if (!rest || *rest < 1 || size % *rest != 0 || (open == shape.end() && size != *rest)) return std::nullopt;
    if (open != shape.end()) *open = size / *rest;
    return known(*elements, std::move(shape));
  }
  if (node.type == "Cast" || node.type == "Identity") return known(*elements, input(0).shape);
  return std::nullopt;
}

/// Floor and Ceil of what is whole, Neg, and the product of all elements.
std::optional<Value> of_one(const Node& node, const Input& input) {
  const auto& elements = input(0).elements;
  if (!elements) return std::nullopt;
  if (node.type == "ReduceProd") {
    const auto all = elements_of(*elements);
    if (!all || node.attributes.contains("axes") || node.inputs.size() > 1) return std::nullopt;
    return known({*all},
                 node.number("keepdims", 1) != 0 ? Shape(input(0).shape ? input(0).shape->size() : 0, 1) : Shape{});
  }
  Elements all = *elements;
  for (Count& value : all) {
    if (value == INT64_MIN) return std::nullopt;
    if (node.type == "Neg") value = -value;
  }
  return known(std::move(all), input(0).shape);
}

std::optional<Value> filled(const Node& node, const Input& input) {
  const auto& sizes = input(0).elements;
  const auto count = sizes ? elements_of(*sizes) : std::nullopt;
  if (!count) return std::nullopt;
  Value value;
  value.shape = *sizes;
  const auto tensor = node.attributes.find("value");
  const bool whole = tensor != node.attributes.end() && tensor->second.tensor && tensor->second.tensor->elements &&
                     tensor->second.tensor->elements->size() == 1;
  if (whole && *count <= static_cast<Count>(kMostElements)) {
    value.elements = Elements(static_cast<std::size_t>(*count), tensor->second.tensor->elements->front());
  }
  return value;
}

}  // namespace

std::optional<std::size_t> axis_in(Count axis, std::size_t rank) {
  if (axis < 0) axis += static_cast<Count>(rank);
  if (axis < 0 || axis >= static_cast<Count>(rank)) return std::nullopt;
  return static_cast<std::size_t>(axis);
}

Count slice_length(Count size, Count start, Count end, Count step) {
  const auto from_end = [&](Count at) { return at < 0 ? (at < -size ? -1 : at + size) : at; };
  if (step > 0) {
    start = std::clamp<Count>(from_end(start), 0, size);
    end = std::clamp<Count>(from_end(end), 0, size);
    return end > start ? (end - start - 1) / step + 1 : 0;
  }
  start = std::clamp<Count>(from_end(start), -1, size - 1);
  end = std::clamp<Count>(from_end(end), -1, size - 1);
  return start > end ? (start - end - 1) / (step == INT64_MIN ? INT64_MAX : -step) + 1 : 0;
}

std::optional<Count> elements_of(const Shape& shape) {
  Count product = 1;
  for (const Count dim : shape) {
    const auto next = dim < 0 ? std::nullopt : checked_multiply(product, dim);
    if (!next) return std::nullopt;
    product = *next;
  }
  return product;
}

std::optional<Value> fold_constant(const Node& node, const Input& input) {
  const std::string& type = node.type;
  if (type == "Constant") return constant(node);
  if (type == "Shape") return shape_of(node, input);
  if (type == "ConstantOfShape") return filled(node, input);
  if (type == "Gather") return gathered(node, input);
  if (type == "Concat") return concatenated(node, input);
  if (type == "Slice") return sliced(node, input);
  if (type == "Where") return chosen(input);
  if (type == "Add" || type == "Sub" || type == "Mul" || type == "Div" || type == "Mod" || type == "Equal")
    return arithmetic(node, input);
  if ((type == "Max" || type == "Min") && node.inputs.size() == 2) return arithmetic(node, input);
  if (type == "Neg" || type == "Floor" || type == "Ceil" || type == "ReduceProd") return of_one(node, input);
  return reshaped(node, input);
}

}  // namespace pliant::onnx
