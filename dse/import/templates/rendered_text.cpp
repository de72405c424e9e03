// SPDX-License-Identifier: Apache-2.0
#include "dse/import/templates/rendered_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/input/source_text.h"
#include "core/input/yaml_text.h"

namespace pliant {
namespace {

/// Deeper than any block around it, so that a line break inside a flow collection is no change of the block.
constexpr std::string_view kFlowIndent = "                                                            ";

void add_line(RenderedText& text, const std::string& own, const Position& at) {
  text.add(fmt::format("\n{}{}", kFlowIndent, own), at);
}

}  // namespace

void RenderedText::add(std::string_view text, const Position& at) {
  if (text_.size() + text.size() > kMaxSourceBytes)
    refuse_template(at, "the rendered text is too long", "at most 4 MiB");
  if (origin_.empty()) origin_.push_back(at);
  // A line that something was already written on keeps its origin.
  if (!text_.empty() && text_.back() == '\n' && !text.empty()) origin_.back() = at;
  text_ += text;
  origin_.insert(origin_.end(), static_cast<std::size_t>(std::ranges::count(text, '\n')), at);
}

Position RenderedText::resolve(int line, int column) const {
  if (origin_.empty()) return {nullptr, line, column};
  const std::size_t i = std::min(static_cast<std::size_t>(std::max(line, 1)), origin_.size()) - 1;
  return {origin_[i].file, origin_[i].line, column};
}

void RenderedText::resolve_positions(YamlNode& node) const {
  node.at = resolve(node.at.line, node.at.column);
  for (YamlNode& item : node.items) resolve_positions(item);
  for (YamlEntry& entry : node.entries) {
    entry.at = resolve(entry.at.line, entry.at.column);
    resolve_positions(entry.value);
  }
}

YamlNode RenderedText::parse(const std::string& file, ImportLog& log) const {
  Diagnostics own;
  try {
    YamlNode tree = parse_yaml(text_, file, own, {.tags = true, .merge_keys = true});
    own.throw_if_any();
    resolve_positions(tree);
    return tree;
  } catch (const InputError& error) {
    for (Diagnostic diagnostic : error.diagnostics()) {
      const Position at = resolve(diagnostic.line, diagnostic.column);
      if (diagnostic.line > 0 && at.file) {
        diagnostic.file = *at.file;
        diagnostic.line = at.line;
      }
      log.problems().add(std::move(diagnostic));
    }
  }
  log.problems().throw_if_any();
  return {};
}

void add_as_flow(const YamlNode& node, RenderedText& text) {
  const std::string tag = node.tag.empty() ? "" : node.tag + " ";
  if (node.is_map()) {
    add_line(text, tag + "{", node.at);
    for (const YamlEntry& entry : node.entries) {
      add_line(text, yaml_text(entry.key) + ":", entry.at);
      add_as_flow(entry.value, text);
      text.add(",", entry.at);
    }
    add_line(text, "}", node.at);
  } else if (node.is_sequence()) {
    add_line(text, tag + "[", node.at);
    for (const YamlNode& item : node.items) {
      add_as_flow(item, text);
      text.add(",", item.at);
    }
    add_line(text, "]", node.at);
  } else if (node.is_scalar()) {
    add_line(text, tag + yaml_text(node.text), node.at);
  } else {
    add_line(text, "null", node.at);
  }
}

void refuse_template(const Position& at, std::string what, std::string expected) {
  throw InputError(
      Diagnostic{at.file ? *at.file : "", at.line, at.column, "", std::move(what), std::move(expected), ""});
}

}  // namespace pliant
