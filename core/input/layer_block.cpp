// SPDX-License-Identifier: Apache-2.0
#include "core/input/layer_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/input/einsum_block.h"
#include "core/input/element_bits.h"
#include "core/input/source_text.h"
#include "core/input/units.h"

namespace pliant {
namespace {

/// The same dim in the project's spelling and in MAESTRO's.
struct OtherSpelling {
  std::string_view ours, theirs;
};
constexpr std::array<OtherSpelling, 3> kSpellings{{{"M", "K"}, {"P", "Y"}, {"Q", "X"}}};

class ConvReader {
 public:
  ConvReader(const Cursor& shape, bool depthwise) : shape_(shape), depthwise_(depthwise) {}

  std::optional<ConvShape> read() {
    const std::size_t before = shape_.problems().size();
    if (!shape_.only_keys(depthwise_ ? Keys(keys::kDepthwise) : Keys(keys::kConv), "a map of sizes"))
      return std::nullopt;
    if (mixes_spellings()) return std::nullopt;
    ConvShape s;
    s.C = size("C");
    s.M = depthwise_ ? s.C : size("M");
    s.P = size("P");
    s.Q = size("Q");
    // A depthwise layer without a filter would be a slip, a pointwise convolution has none to speak of.
    if (depthwise_ || shape_.find("R") || shape_.find("S")) {
      s.R = size("R");
      s.S = size("S");
    }
    if (const auto value = shape_.find(theirs_ || shape_.find("N") ? "N" : "B")) s.B = value->count().value_or(1);
    pair("stride", "stride_p", s.stride_p, "stride_q", s.stride_q);
    pair("dilation", "dilation_r", s.dilation_r, "dilation_s", s.dilation_s);
    if (const auto value = shape_.find("transposed")) s.transposed = value->flag().value_or(false);
    if (depthwise_) s.groups = s.C;
    if (const auto value = shape_.find("groups"); value && !depthwise_) {
      s.groups = value->count().value_or(1);
      const bool good = shape_.problems().size() == before;
      if (good && (s.M % s.groups != 0 || s.C % s.groups != 0)) {
        value->problem(fmt::format("{} groups do not divide M = {} and C = {}", s.groups, s.M, s.C),
                       "a common divisor");
      }
    }
    if (shape_.problems().size() != before) return std::nullopt;
    return s;
  }

 private:
  bool mixes_spellings() {
    std::string_view ours;
    for (const auto& [our, their] : kSpellings) {
      if (ours.empty() && shape_.find(our)) ours = our;
      theirs_ |= shape_.find(their).has_value();
    }
    if (ours.empty() && shape_.find("B")) ours = "B";
    for (const auto& [our, their] : kSpellings) {
      if (const auto value = shape_.find(their); value && !ours.empty()) {
        value->problem(fmt::format("two spellings in one layer: {} and {}", ours, their),
                       "M, C, P, Q, R, S, B or K, C, Y, X, R, S, N");
        return true;
      }
    }
    if (const auto value = shape_.find("N"); value && shape_.find("B")) {
      value->problem("two batch sizes: B and N", "one of them");
      return true;
    }
    return false;
  }

  Count size(std::string_view key) {
    for (const auto& [our, their] : kSpellings) {
      if (theirs_ && key == our) key = their;
    }
    const bool kernel = key == "R" || key == "S";
    const auto value =
        shape_.require(key, kernel && !depthwise_ ? "a size; without R and S the kernel is 1x1" : "a size");
    return value ? value->count().value_or(1) : 1;
  }

  void pair(std::string_view both, std::string_view first_key, Count& first, std::string_view second_key,
            Count& second) {
    const auto shared = shape_.find(both), a = shape_.find(first_key), b = shape_.find(second_key);
    if (shared && (a || b)) {
      return shared->problem(fmt::format("{} beside {} or {}", both, first_key, second_key),
                             "one for both directions or one each");
    }
    if (shared) first = second = shared->count().value_or(1);
    if (a) first = a->count().value_or(1);
    if (b) second = b->count().value_or(1);
  }

  const Cursor& shape_;
  bool depthwise_;
  bool theirs_ = false;  ///< K, Y, X instead of M, P, Q
};

std::optional<GemmShape> read_gemm(const Cursor& shape) {
  const std::size_t before = shape.problems().size();
  if (!shape.only_keys(keys::kGemm, "a map of sizes")) return std::nullopt;
  GemmShape s;
  if (const auto value = shape.find("B")) s.B = value->count().value_or(1);
  if (const auto value = shape.require("M", "a size")) s.M = value->count().value_or(1);
  if (const auto value = shape.require("N", "a size")) s.N = value->count().value_or(1);
  if (const auto value = shape.require("K", "a size")) s.K = value->count().value_or(1);
  if (shape.problems().size() != before) return std::nullopt;
  return s;
}

/// Every product a model forms stays below kMaxCount: the MACs, and the bounding box of every tensor.
bool sizes_fit(const Cursor& shape, const Layer& layer) {
  Count macs = 1;
  for (const Dim& dim : layer.dims) {
    const auto product = checked_multiply(macs, dim.size);
    if (!product || *product >= kMaxCount) {
      shape.problem("the sizes multiply to too many MACs", "fewer than 2^62");
      return false;
    }
    macs = *product;
  }
  for (const Tensor& tensor : layer.tensors) {
    std::optional<Count> words = 1;
    for (const Rank& rank : tensor.ranks) {
      std::optional<Count> extent = 1;
      for (const Term& term : rank.terms) {
        const auto step = checked_multiply(term.coefficient, layer.dims[static_cast<std::size_t>(term.dim)].size - 1);
        extent = step && extent ? checked_add(*extent, *step) : std::nullopt;
      }
      words = words && extent ? checked_multiply(*words, *extent) : std::nullopt;
    }
    if (!words || *words >= kMaxCount) {
      shape.problem(fmt::format("the tensor {} has too many elements", tensor.name), "fewer than 2^62");
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<Layer> read_shape(std::string_view operation, const Cursor& shape, std::string name) {
  std::optional<Layer> layer;
  if (operation == "conv" || operation == "depthwise") {
    const auto sizes = ConvReader(shape, operation == "depthwise").read();
    if (sizes) layer = make_conv(std::move(name), *sizes);
  } else if (operation == "gemm") {
    const auto sizes = read_gemm(shape);
    if (sizes) layer = make_gemm(std::move(name), *sizes);
  } else {
    layer = read_einsum(shape, std::move(name));
  }
  if (layer && !sizes_fit(shape, *layer)) return std::nullopt;
  return layer;
}

std::optional<std::string> read_layer_name(const Cursor& name) {
  auto text = name.text("the layer's name");
  if (!text) return std::nullopt;
  const bool good = text->size() <= 200 && text->front() != ' ' && text->back() != ' ' &&
                    std::ranges::none_of(*text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (good) return text;
  name.problem(name.node().describe() + " is not a layer's name",
               "at most 200 characters on one line, no blanks around");
  return std::nullopt;
}

std::optional<Layer> read_layer(const Cursor& block, Keys allowed) {
  if (!block.only_keys(allowed, "a layer: a map with layer: NAME and one of " + join(keys::kOperations)))
    return std::nullopt;
  const auto name_cursor = block.require("layer", "the layer's name");
  const auto name = name_cursor ? read_layer_name(*name_cursor) : std::nullopt;
  std::vector<std::string_view> given;
  for (const std::string_view operation : keys::kOperations) {
    if (block.find(operation)) given.push_back(operation);
  }
  if (given.size() != 1) {
    block.problem(given.empty() ? "a layer without an operation" : "two operations in one layer: " + join(given),
                  "one of " + join(keys::kOperations));
    return std::nullopt;
  }
  auto layer = read_shape(given[0], *block.find(given[0]), name.value_or("?"));
  if (const auto bits = block.find("bits"); bits && layer) layer->bits = read_element_bits(*bits);
  return layer;
}

}  // namespace pliant
