// SPDX-License-Identifier: Apache-2.0
// Where functions begin and end, by a small scanner that knows strings, comments, braces and what stands before them.
// It is exact for code as clang-format leaves it; a real parser would take longer than all other checks together.
#pragma once

#include <cctype>
#include <regex>
#include <string>
#include <vector>

#include "architecture/source_files.h"

namespace pliant::test {

struct FunctionSpan {
  std::string name;
  std::size_t first = 0, last = 0;  ///< lines, from 1
  std::size_t lines() const { return last - first + 1; }
};

/// The text with comments, strings and directives blanked out, line breaks kept.
inline std::string blank_out(const SourceFile& file) {
  std::string text;
  bool directive = false;
  for (const std::string& line : file.lines) {
    const std::size_t start = line.find_first_not_of(' ');
    directive = directive || (start != std::string::npos && line[start] == '#');
    if (!directive) text += line;
    directive = directive && line.ends_with('\\');
    text += '\n';
  }
  static const std::regex skipped(
      R"re(//[^\n]*|/\*[^]*?\*/|R"([^(\s]*)\([^]*?\)\1"|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)')re");
  std::string blanked;
  std::size_t end = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), skipped), none; it != none; ++it) {
    blanked.append(text, end, static_cast<std::size_t>(it->position()) - end);
    for (const char c : it->str()) blanked += c == '\n' ? '\n' : ' ';
    end = static_cast<std::size_t>(it->position() + it->length());
  }
  return blanked.append(text, end);
}

/// A name and parentheses before `{` in a namespace or class open a function; "" for anything else.
inline std::string function_name(std::string head) {
  static const std::regex parenthesised(R"(\([^()]*\))");
  static const std::regex named(R"((operator\s*\(\)|operator\s*[^\s\w]+|~?[\w:]+)\s*\()");
  std::smatch match;
  if (!std::regex_search(head, match, named)) return "";
  const std::string name = match[1];
  for (std::string before; before != head;) {
    before = head;
    head = std::regex_replace(head, parenthesised, "");
  }
  // An initializer or a lambda, not a function: `const auto f = [](int x)`.
  if (head.find('=') != std::string::npos && name.find("operator") == std::string::npos) return "";
  return name;
}

inline std::vector<FunctionSpan> functions_of(const SourceFile& file) {
  static const std::regex scope(R"(^\s*(inline\s+)?namespace\b|^\s*extern\s*$)");
  static const std::regex type(
      R"(^\s*(template\s*<[^{}]*>\s*)?(typedef\s+|static\s+|const\s+)*(class|struct|union|enum)\b[^()]*$)");
  enum class Kind { kScope, kFunction, kOther };
  const std::string text = blank_out(file);
  std::vector<FunctionSpan> functions;
  std::vector<Kind> open;
  std::string head;                     // since the last ; { or }
  std::size_t line = 1, head_line = 1;  // of its first word
  std::size_t inside = 0;               // blocks that are not scopes
  for (const char c : text) {
    if (c == '\n') ++line;
    if (c == '{') {
      Kind kind = Kind::kOther;
      if (inside == 0 && (std::regex_search(head, scope) || std::regex_search(head, type))) {
        kind = Kind::kScope;
      } else if (inside == 0) {
        if (const std::string name = function_name(head); !name.empty()) {
          kind = Kind::kFunction;
          functions.push_back({name, head_line, 0});
        }
      }
      inside += kind == Kind::kScope ? 0 : 1;
      open.push_back(kind);
      head.clear();
    } else if (c == '}') {
      if (open.empty()) continue;
      if (open.back() == Kind::kFunction) functions.back().last = line;
      inside -= open.back() == Kind::kScope ? 0 : 1;
      open.pop_back();
      head.clear();
    } else if (c == ';') {
      head.clear();
    } else if (!head.empty() || std::isspace(static_cast<unsigned char>(c)) == 0) {
      if (head.empty()) head_line = line;
      head += c;
    }
  }
  return functions;
}

}  // namespace pliant::test
