// SPDX-License-Identifier: Apache-2.0
#include "core/input/yaml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "core/input/source_text.h"

namespace pliant {

std::string yaml_text(std::string_view text) {
  // Words that a YAML reader takes for something else; Pliant's own does not, but editors and other tools do.
  constexpr std::array<std::string_view, 10> kNotWords{"true", "false", "null", "yes", "no",
                                                       "on",   "off",   "y",    "n",   "~"};
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool plain = !text.empty() &&
                     (std::isalpha(static_cast<unsigned char>(text.front())) != 0 || text.front() == '_') &&
                     text.back() != ' ' && std::ranges::find(kNotWords, std::string_view(lower)) == kNotWords.end() &&
                     std::ranges::all_of(text, [](char c) {
                       return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                              std::string_view("_-+*./() ").find(c) != std::string_view::npos;
                     });
  if (plain) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': quoted += "\\\""; break;
      case '\\': quoted += "\\\\"; break;
      case '\n': quoted += "\\n"; break;
      case '\r': quoted += "\\r"; break;
      case '\t': quoted += "\\t"; break;
      default: quoted += c;
    }
  }
  return quoted + "\"";
}

std::string yaml_number(double value) { return fmt::format("{}", value); }

std::string yaml_list(const std::vector<std::string>& items) { return fmt::format("[{}]", join(items)); }

std::string yaml_map(const std::vector<std::string>& items) { return fmt::format("{{{}}}", join(items)); }

}  // namespace pliant
