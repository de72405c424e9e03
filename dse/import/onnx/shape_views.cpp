// SPDX-License-Identifier: Apache-2.0
// Operators that move, cut, join or reduce what they are given.
#include <algorithm>

#include "core/arithmetic.h"
#include "core/input/units.h"
#include "dse/import/onnx/constants.h"
#include "dse/import/onnx/shape_rules.h"

namespace pliant::onnx {

std::optional<Shape> ShapeRules::flatten(const Node& node) const {
  const auto in = shape(node, 0);
  if (!in || std::ranges::any_of(*in, [](Count d) { return d < 0; })) return std::nullopt;
  Count axis = node.number("axis", 1);
  if (axis < 0) axis += static_cast<Count>(in->size());
  Shape out{1, 1};
  for (std::size_t i = 0; i < in->size(); ++i) {
    Count& side = out[static_cast<Count>(i) < axis ? 0 : 1];
    const auto next = checked_multiply(side, (*in)[i]);
    if (!next) return std::nullopt;
    side = *next;
  }
  return out;
}

std::optional<Shape> ShapeRules::reshape(const Node& node) const {
  const auto in = shape(node, 0);
  auto wanted = input(node, 1).elements;
  if (!wanted && node.attributes.contains("shape")) wanted = node.numbers("shape");
  if (!wanted) return std::nullopt;
  Shape out = *wanted;
  std::optional<std::size_t> open;
  Count known = 1;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == 0 && node.number("allowzero", 0) == 0) {
      if (!in || i >= in->size()) return std::nullopt;
      out[i] = (*in)[i];
    }
    if (out[i] < 0) {
      open = i;
      continue;
    }
    const auto next = checked_multiply(known, out[i]);
    if (!next) return std::nullopt;
    known = *next;
  }
  if (!open) return out;
  const auto all = in ? elements_of(*in) : std::nullopt;
  if (!all || known == 0 || *all % known != 0) return std::nullopt;
  out[*open] = *all / known;
  return out;
}

std::optional<Shape> ShapeRules::transpose(const Node& node) const {
  const auto in = shape(node, 0);
  if (!in) return std::nullopt;
  std::vector<Count> order = node.numbers("perm");
  if (order.empty()) {
    for (std::size_t i = in->size(); i-- > 0;) order.push_back(static_cast<Count>(i));
  }
  Shape out;
  for (const Count axis : order) {
    if (axis < 0 || axis >= static_cast<Count>(in->size())) return std::nullopt;
    out.push_back((*in)[static_cast<std::size_t>(axis)]);
  }
  return out.size() == in->size() ? std::optional(out) : std::nullopt;
}

std::optional<Shape> ShapeRules::concat(const Node& node) const {
  auto out = shape(node, 0);
  if (!out) return std::nullopt;
  const auto axis = axis_in(node.number("axis", 0), out->size());
  if (!axis) return std::nullopt;
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    const auto next = shape(node, i);
    if (!next || next->size() != out->size() || (*next)[*axis] < 0 || (*out)[*axis] < 0) return std::nullopt;
    const auto sum = checked_add((*out)[*axis], (*next)[*axis]);
    if (!sum) return std::nullopt;
    (*out)[*axis] = *sum;
  }
  return out;
}

std::vector<Count> ShapeRules::axes_of(const Node& node, std::size_t at) const {
  if (node.attributes.contains("axes")) return node.numbers("axes");
  return input(node, at).elements.value_or(std::vector<Count>{});
}

std::optional<Shape> ShapeRules::unsqueeze(const Node& node) const {
  const auto in = shape(node, 0);
  std::vector<Count> axes = axes_of(node, 1);
  if (!in || axes.empty()) return std::nullopt;
  for (Count& axis : axes) {
    if (axis < 0) axis += static_cast<Count>(in->size() + axes.size());
  }
  std::ranges::sort(axes);
  Shape out = *in;
  for (const Count axis : axes) {
    if (axis < 0 || axis > static_cast<Count>(out.size())) return std::nullopt;
    out.insert(out.begin() + axis, 1);
  }
  return out;
}

std::optional<Shape> ShapeRules::squeeze(const Node& node) const {
  const auto in = shape(node, 0);
  if (!in) return std::nullopt;
  const std::vector<Count> axes = axes_of(node, 1);
  Shape out;
  for (std::size_t i = 0; i < in->size(); ++i) {
    const bool named = std::ranges::any_of(axes, [&](Count a) { return axis_in(a, in->size()) == i; });
    if (axes.empty() ? (*in)[i] != 1 : !named) out.push_back((*in)[i]);
  }
  return out;
}

std::optional<Shape> ShapeRules::slice(const Node& node) const {
  auto out = shape(node, 0);
  const bool old = node.attributes.contains("starts");
  const auto starts = old ? std::optional(node.numbers("starts")) : input(node, 1).elements;
  const auto ends = old ? std::optional(node.numbers("ends")) : input(node, 2).elements;
  if (!out || !starts || !ends || starts->size() != ends->size()) return std::nullopt;
  std::vector<Count> axes = old ? node.numbers("axes") : input(node, 3).elements.value_or(std::vector<Count>{});
  const std::vector<Count> steps = input(node, 4).elements.value_or(std::vector<Count>(starts->size(), 1));
  for (std::size_t i = axes.size(); i < starts->size(); ++i) axes.push_back(static_cast<Count>(i));
  for (std::size_t i = 0; i < starts->size(); ++i) {
    const auto axis = axis_in(axes[i], out->size());
    const Count step = i < steps.size() ? steps[i] : 1;
    if (!axis || (*out)[*axis] < 0 || step == 0) return std::nullopt;
    (*out)[*axis] = slice_length((*out)[*axis], (*starts)[i], (*ends)[i], step);
  }
  return out;
}

std::optional<Shape> ShapeRules::gather(const Node& node) const {
  const auto data = shape(node, 0), indices = shape(node, 1);
  if (!data || !indices) return std::nullopt;
  const auto axis = axis_in(node.number("axis", 0), data->size());
  if (!axis) return std::nullopt;
  Shape out(data->begin(), data->begin() + static_cast<std::ptrdiff_t>(*axis));
  out.insert(out.end(), indices->begin(), indices->end());
  out.insert(out.end(), data->begin() + static_cast<std::ptrdiff_t>(*axis) + 1, data->end());
  return out;
}

std::optional<Shape> ShapeRules::expand(const Node& node) const {
  const auto in = shape(node, 0);
  const auto wanted = input(node, 1).elements;
  return in && wanted ? broadcast(*in, *wanted) : std::nullopt;
}

std::optional<Shape> ShapeRules::pad(const Node& node) const {
  auto out = shape(node, 0);
  const auto pads = node.attributes.contains("pads") ? std::optional(node.numbers("pads")) : input(node, 1).elements;
  if (!out || !pads || pads->size() != 2 * out->size()) return std::nullopt;
  for (std::size_t i = 0; i < out->size(); ++i) {
    const auto sum = checked_add((*pads)[i], (*pads)[i + out->size()]);
    const auto all = sum && (*out)[i] >= 0 ? checked_add((*out)[i], *sum) : std::nullopt;
    if (!all || *all < 1) return std::nullopt;
    (*out)[i] = *all;
  }
  return out;
}

std::optional<Shape> ShapeRules::resize(const Node& node) const { return input(node, 3).elements; }

std::optional<Shape> ShapeRules::reduced(const Node& node, std::vector<Count> axes) const {
  const auto in = shape(node, 0);
  if (!in) return std::nullopt;
  const bool keep = node.number("keepdims", 1) != 0;
  Shape out;
  for (std::size_t i = 0; i < in->size(); ++i) {
    const bool named = axes.empty() || std::ranges::any_of(axes, [&](Count a) { return axis_in(a, in->size()) == i; });
    if (!named) out.push_back((*in)[i]);
    if (named && keep) out.push_back(1);
  }
  return out;
}

std::optional<Shape> ShapeRules::reduce(const Node& node) const { return reduced(node, axes_of(node, 1)); }

std::optional<Shape> ShapeRules::arg_reduce(const Node& node) const { return reduced(node, {node.number("axis", 0)}); }

std::optional<Shape> ShapeRules::depth_to_space(const Node& node) const {
  auto out = shape(node, 0);
  const Count block = node.number("blocksize", 0);
  if (!out || out->size() != 4 || block < 1 || block > 1024 || (*out)[1] % (block * block) != 0) return std::nullopt;
  (*out)[1] /= block * block;
  for (const std::size_t i : {std::size_t{2}, std::size_t{3}}) {
    const auto grown = checked_multiply((*out)[i], block);
    if (!grown) return std::nullopt;
    (*out)[i] = *grown;
  }
  return out;
}

std::optional<Shape> ShapeRules::tile(const Node& node) const {
  auto out = shape(node, 0);
  const auto repeats = input(node, 1).elements;
  if (!out || !repeats || repeats->size() != out->size()) return std::nullopt;
  for (std::size_t i = 0; i < out->size(); ++i) {
    const auto grown = checked_multiply((*out)[i], (*repeats)[i]);
    if (!grown) return std::nullopt;
    (*out)[i] = *grown;
  }
  return out;
}

void ShapeRules::split(const Node& node, std::vector<Value>& outputs) const {
  const auto in = shape(node, 0);
  const auto axis = in ? axis_in(node.number("axis", 0), in->size()) : std::nullopt;
  if (!axis || (*in)[*axis] < 0) return;
  std::vector<Count> sizes = node.attributes.contains("split") ? node.numbers("split")
                                                               : input(node, 1).elements.value_or(std::vector<Count>{});
  if (sizes.empty()) {
    const auto parts = static_cast<Count>(outputs.size());
    const Count each = ceil_div((*in)[*axis], parts);
    sizes.assign(outputs.size(), each);
    sizes.back() = (*in)[*axis] - each * (parts - 1);
  }
  for (std::size_t i = 0; i < outputs.size() && i < sizes.size(); ++i) {
    outputs[i].shape = *in;
    (*outputs[i].shape)[*axis] = sizes[i];
  }
}

}  // namespace pliant::onnx
