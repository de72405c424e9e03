// SPDX-License-Identifier: Apache-2.0
#include "dse/import/onnx/window.h"

#include <algorithm>

#include "core/arithmetic.h"

namespace pliant::onnx {
namespace {

/// Sizes of the attribute, or all the same when it is missing; nothing when its length or a size is wrong.
std::optional<std::vector<Count>> sizes(const Node& node, const std::string& key, std::size_t length, Count otherwise) {
  std::vector<Count> all = node.numbers(key);
  if (all.empty()) all.assign(length, otherwise);
  constexpr Count kLargest = Count{1} << 30;
  if (all.size() != length || std::ranges::any_of(all, [&](Count v) { return v < otherwise || v > kLargest; }))
    return std::nullopt;
  return all;
}

}  // namespace

std::optional<Window> sliding_window(const Node& node, const Shape& input, std::vector<Count> kernel) {
  if (input.size() < 3) return std::nullopt;
  const std::size_t axes = input.size() - 2;
  if (kernel.empty()) kernel = node.numbers("kernel_shape");
  const auto strides = sizes(node, "strides", axes, 1), dilations = sizes(node, "dilations", axes, 1);
  const auto pads = sizes(node, "pads", 2 * axes, 0);
  if (kernel.size() != axes || !strides || !dilations || !pads) return std::nullopt;
  const std::string auto_pad = node.text("auto_pad");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  const bool padded = auto_pad.empty() || auto_pad == "NOTSET";
  const bool ceil_mode = node.number("ceil_mode", 0) != 0;
  Window window{kernel, *strides, *dilations, {}};
  for (std::size_t i = 0; i < axes; ++i) {
    const Count in = input[i + 2], stride = (*strides)[i];
    if (in < 1 || kernel[i] < 1 || kernel[i] > (Count{1} << 30)) return std::nullopt;
    const Count reach = (*dilations)[i] * (kernel[i] - 1) + 1;
    const Count room = in + (padded ? (*pads)[i] + (*pads)[axes + i] : 0) - reach;
    const Count out = same ? ceil_div(in, stride) : room < 0 ? 0 : (room + (ceil_mode ? stride - 1 : 0)) / stride + 1;
    if (out < 1) return std::nullopt;
    window.outputs.push_back(out);
  }
  return window;
}

std::optional<Window> transposed_window(const Node& node, const Shape& input, const std::vector<Count>& kernel) {
  if (input.size() < 3 || kernel.size() != input.size() - 2) return std::nullopt;
  const std::size_t axes = kernel.size();
  const auto strides = sizes(node, "strides", axes, 1), dilations = sizes(node, "dilations", axes, 1);
  const auto pads = sizes(node, "pads", 2 * axes, 0), extra = sizes(node, "output_padding", axes, 0);
  if (!strides || !dilations || !pads || !extra) return std::nullopt;
  const std::vector<Count> asked = node.numbers("output_shape");
  const bool same = node.text("auto_pad").starts_with("SAME");
  Window window{kernel, *strides, *dilations, {}};
  for (std::size_t i = 0; i < axes; ++i) {
    if (input[i + 2] < 1 || kernel[i] < 1) return std::nullopt;
    const Count reach = (*dilations)[i] * (kernel[i] - 1) + 1;
    Count out = (*strides)[i] * (input[i + 2] - 1) + (*extra)[i] + reach - (*pads)[i] - (*pads)[axes + i];
    if (same) out = input[i + 2] * (*strides)[i];
    if (asked.size() == axes) out = asked[i];
    if (out < 1) return std::nullopt;
    window.outputs.push_back(out);
  }
  return window;
}

}  // namespace pliant::onnx
