// SPDX-License-Identifier: Apache-2.0
// The text of an input file, before anyone tries to understand it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace pliant {

/// Larger inputs are refused: the largest sensible one is a table of some ten thousand layers.
inline constexpr std::size_t kMaxSourceBytes = std::size_t{4} << 20;

/// Reads a regular file; InputError when there is none, it cannot be read, or it is too large.
std::string read_source(const std::filesystem::path& file);

/// Throws InputError unless the text is UTF-8 without control characters and not too large.
void check_source_text(std::string_view text, std::string_view file);

/// At most `limit` bytes of a word for a message, cut at a character, line breaks shown as spaces.
std::string shorten(std::string_view text, std::size_t limit);

/// "a, b, c".
template <class Words>
std::string join(const Words& words, std::string_view separator = ", ") {
  std::string text;
  bool first = true;
  for (const auto& word : words) {
    if (!first) text += separator;
    text += word;
    first = false;
  }
  return text;
}

}  // namespace pliant
