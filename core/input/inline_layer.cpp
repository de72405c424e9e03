// SPDX-License-Identifier: Apache-2.0
#include "core/input/inline_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/input/cursor.h"
#include "core/input/layer_block.h"
#include "core/input/load_layer.h"
#include "core/input/source_text.h"

namespace pliant {
namespace {

// The text becomes the same tree a file would give, so it is read and checked by the same code; columns count from the
// start of the text.

constexpr std::array<std::string_view, 3> kInPlace{"conv", "depthwise", "gemm"};

/// "conv:M=64,C=3" -> "conv_M64_C3": a name for tables and for --layer alike.
std::string name_for(std::string_view text) {
  std::string name;
  for (const char c : text) {
    if (c == ':' || c == ',') {
      name += '_';
    } else if (c != '=' && c != ' ') {
      name += c;
    }
  }
  return shorten(name, 190);
}

YamlNode shape_tree(std::string_view text, std::size_t start, const Position& at, std::string_view operation,
                    Diagnostics& problems) {
  YamlNode shape;
  shape.kind = YamlNode::Kind::kMap;
  shape.at = at;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    std::size_t first = start;
    while (first < end && text[first] == ' ') ++first;
    const std::string_view item = text.substr(first, end - first);
    const std::size_t equals = item.find('=');
    std::string key(item.substr(0, equals));
    while (!key.empty() && key.back() == ' ') key.pop_back();
    Position key_at = at, value_at = at;
    key_at.column = static_cast<int>(first) + 1;
    value_at.column = key_at.column;
    YamlNode value;
    value.kind = YamlNode::Kind::kScalar;
    if (equals == std::string_view::npos && key == "transposed") {
      value.text = "true";
    } else if (equals == std::string_view::npos) {
      problems.add(key_at, std::string(operation),
                   item.empty() ? "an empty item" : fmt::format("`{}` is not KEY=VALUE", shorten(item, 40)),
                   "KEY=VALUE, as in M=64");
      start = end + 1;
      continue;
    } else {
      value.text = item.substr(equals + 1);
      value_at.column += static_cast<int>(equals) + 1;
    }
    value.at = value_at;
    if (value.text.empty()) value.kind = YamlNode::Kind::kNull;
    if (shape.find(key) != nullptr) {
      problems.add(key_at, fmt::format("{}.{}", operation, shorten(key, 40)), "duplicate key", "each key once");
    } else {
      shape.entries.push_back({key, key_at, std::move(value)});
    }
    start = end + 1;
  }
  return shape;
}

}  // namespace

Layer parse_layer(std::string_view text, std::string_view source) {
  check_source_text(text, source);
  Diagnostics problems;
  const Position at{std::make_shared<const std::string>(source), 1, 1};
  const std::size_t colon = text.find(':');
  const std::string_view operation = text.substr(0, colon);
  if (colon == std::string_view::npos || std::ranges::find(kInPlace, operation) == kInPlace.end()) {
    problems.add(at, "", fmt::format("`{}` is not a layer", shorten(text, 40)),
                 "conv:M=64,C=3,P=112,Q=112,R=7,S=7, depthwise:... or gemm:M=512,N=512,K=512",
                 nearest(operation, to_words(kInPlace)));
    problems.throw_if_any();
  }
  const YamlNode shape = shape_tree(text, colon + 1, at, operation, problems);
  const auto layer = read_shape(operation, Cursor(shape, std::string(operation), problems), name_for(text));
  problems.throw_if_any();
  return *layer;
}

Layer resolve_layer(std::string_view text, const Workload* workload) {
  if (workload != nullptr) {
    if (const Workload::Entry* entry = workload->find(text)) return entry->layer;
  }
  const std::string_view operation = text.substr(0, text.find(':'));
  if (operation.size() < text.size() && std::ranges::find(kInPlace, operation) != kInPlace.end()) {
    return parse_layer(text, "--layer");
  }
  std::error_code error;
  const std::filesystem::path file{std::string(text)};
  if (std::filesystem::is_regular_file(file, error)) return load_layer(file);

  std::vector<std::string> known;
  if (workload != nullptr) {
    for (const Workload::Entry& entry : workload->layers) known.push_back(entry.layer.name);
  }
  std::string near = nearest(text, known);
  if (near.empty() && operation.size() < text.size()) near = nearest(operation, to_words(kInPlace));
  std::vector<std::string> shown = known;
  constexpr std::size_t kMostShown = 12;
  if (shown.size() > kMostShown) {
    shown.resize(kMostShown);
    shown.emplace_back("...");
  }
  std::string expected = "a file, or a layer in place such as gemm:M=512,N=512,K=512";
  if (workload != nullptr) expected = fmt::format("a layer of {} ({}), {}", workload->name, join(shown), expected);
  throw InputError(Diagnostic{"--layer", 0, 0, "", fmt::format("no layer `{}`", shorten(text, 60)), expected, near});
}

}  // namespace pliant
