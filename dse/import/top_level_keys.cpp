// SPDX-License-Identifier: Apache-2.0
#include "dse/import/top_level_keys.h"

#include <algorithm>
#include <cctype>

namespace pliant {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; }

/// The key at the start of a line, or "".
std::string_view key_of(std::string_view line) {
  std::size_t end = 0;
  while (end < line.size() && is_word(line[end])) ++end;
  return end > 0 && end < line.size() && line[end] == ':' ? line.substr(0, end) : std::string_view{};
}

}  // namespace

TopLevelKeys::TopLevelKeys(std::string_view text) {
  bool in_list = false;
  std::size_t list_indent = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with("- ")) {
      in_list = true;
      const std::size_t first = line.find_first_not_of(" -");
      list_indent = first == std::string_view::npos ? 2 : first;
      line.remove_prefix(std::min(list_indent, line.size()));
      if (const auto key = key_of(line); !key.empty()) in_list_.emplace(key);
      continue;
    }
    if (const auto key = key_of(line); !key.empty()) {
      keys_.emplace(key);
      in_list = false;
    } else if (in_list && line.size() > list_indent && line.find_first_not_of(' ') == list_indent) {
      if (const auto inner = key_of(line.substr(list_indent)); !inner.empty()) in_list_.emplace(inner);
    }
  }
}

bool TopLevelKeys::ours() const {
  return has("pliant") || has("levels") || has("layers") || has("layer") || has("include");
}

}  // namespace pliant
