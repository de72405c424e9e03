// SPDX-License-Identifier: Apache-2.0
#include "dse/import/timeloop/template_text.h"

#include <fmt/format.h>

#include <filesystem>
#include <regex>

#include "core/input/source_text.h"

namespace pliant {
namespace {

constexpr int kMaxIncludes = 16;

/// Text put together from several files, with the origin of every line.
class Assembled {
 public:
  std::string text;
  std::vector<Position> origin;

  void add(const SourceFile& file, int depth) {
    static const std::regex include(R"re(^\s*\{\{\s*include_text\(\s*['"]([^'"{}]+)['"]\s*\)\s*\}\}\s*$)re");
    check_source_text(file.text, file.name);
    std::string_view rest = file.text;
    for (int line = 1; !rest.empty(); ++line) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string own(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const Position at = position_in(file, line);
      const std::string_view code = std::string_view(own).substr(0, std::min(own.find('#'), own.size()));
      const bool is_template = code.find("{{") != std::string_view::npos || code.find("{%") != std::string_view::npos;
      std::smatch match;
      if (is_template && own.size() < kLongestLine && std::regex_match(own, match, include)) {
        if (depth + 1 > kMaxIncludes) refuse(at, "includes are nested too deep", "no file that includes itself");
        const auto path = std::filesystem::path(file.name).parent_path() / match[1].str();
        add({path.string(), read_source(path)}, depth + 1);
        continue;
      }
      if (is_template) {
        refuse(at, fmt::format("a Jinja expression `{}`", shorten(own, 60)),
               "only {{include_text('FILE')}} on a line of its own; or the expanded parsed-processed-input.yaml");
      }
      text += own;
      text += '\n';
      origin.push_back(at);
      if (text.size() > kMaxSourceBytes) refuse(at, "included texts are too long", "at most 4 MiB");
    }
  }

  [[noreturn]] static void refuse(const Position& at, std::string what, std::string expected) {
    throw InputError(Diagnostic{*at.file, at.line, at.column, "", std::move(what), std::move(expected), ""});
  }

  Position resolve(int line, int column) const {
    const std::size_t i = std::min(static_cast<std::size_t>(std::max(line, 1)), origin.size()) - 1;
    return {origin[i].file, origin[i].line, column};
  }

 private:
  static constexpr std::size_t kLongestLine = 500;
};

void resolve_positions(YamlNode& node, const Assembled& from) {
  node.at = from.resolve(node.at.line, node.at.column);
  for (YamlNode& item : node.items) resolve_positions(item, from);
  for (YamlEntry& entry : node.entries) {
    entry.at = from.resolve(entry.at.line, entry.at.column);
    resolve_positions(entry.value, from);
  }
}

}  // namespace

YamlNode parse_template(const SourceFile& file, ImportLog& log) {
  Assembled all;
  all.add(file, 0);
  if (all.origin.empty()) all.origin.push_back(position_in(file, 1));
  Diagnostics own;
  const auto relay = [&](const InputError& error) {
    for (Diagnostic diagnostic : error.diagnostics()) {
      if (diagnostic.line > 0) {
        const Position at = all.resolve(diagnostic.line, diagnostic.column);
        diagnostic.file = *at.file;
        diagnostic.line = at.line;
      }
      log.problems().add(std::move(diagnostic));
    }
  };
  try {
    YamlNode tree = parse_yaml(all.text, file.name, own, {.tags = true, .merge_keys = true});
    own.throw_if_any();
    resolve_positions(tree, all);
    return tree;
  } catch (const InputError& error) {
    relay(error);
  }
  log.problems().throw_if_any();
  return {};
}

}  // namespace pliant
