// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/input/yaml_node.h"
#include "dse/import/imported.h"

namespace pliant {

/// Text put together from several files, with the origin of every line.
class RenderedText {
 public:
  /// `at`: where the first of these lines was written; line breaks inside belong to that line too.
  void add(std::string_view text, const Position& at);
  const std::string& text() const { return text_; }
  Position resolve(int line, int column) const;
  /// The text as YAML; every position is that of the origin.
  YamlNode parse(const std::string& file, ImportLog& log) const;

 private:
  void resolve_positions(YamlNode& node) const;

  std::string text_;
  std::vector<Position> origin_;
};

/// A subtree as flow YAML, each scalar on a line of its own, so that it can stand inside another text and still know
/// where it came from.
void add_as_flow(const YamlNode& node, RenderedText& text);

[[noreturn]] void refuse_template(const Position& at, std::string what, std::string expected);

}  // namespace pliant
