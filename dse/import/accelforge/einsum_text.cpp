// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/input/source_text.h"
#include "core/input/units.h"
#include "dse/import/accelforge/accelforge.h"
#include "dse/import/text_forms.h"

namespace pliant::accelforge {
namespace {

constexpr Count kLargestNumber = Count{1} << 40;

std::optional<Count> whole(std::string_view text) {
  const auto parsed = parse_count(text);
  const Count* count = std::get_if<Count>(&parsed);
  return count != nullptr && *count >= 0 && *count <= kLargestNumber ? std::optional(*count) : std::nullopt;
}

/// Pieces between a separator that stands outside brackets.
std::vector<std::string> split(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts(1);
  int open = 0;
  for (const char c : text) {
    open += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (open == 0 && separators.find(c) != std::string_view::npos) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// "T[m, H: p + r]".
std::optional<Access> read_access(const Cursor& cursor, const std::string& text, ImportLog& log) {
  const std::size_t open = text.find('[');
  if (open == 0 || open == std::string::npos || text.back() != ']' || !is_name(text.substr(0, open))) {
    cursor.problem(fmt::format("`{}` is no tensor", shorten(text, 40)), "TENSOR[index, index, ...]");
    return std::nullopt;
  }
  Access access{text.substr(0, open), false, {}};
  const std::string inside = text.substr(open + 1, text.size() - open - 2);
  if (inside.empty()) return access;
  for (const std::string& part : split(inside, ",")) {
    const std::size_t colon = part.find(':');
    const auto terms = read_index(cursor, colon == std::string::npos ? part : part.substr(colon + 1), log);
    if (!terms) return std::nullopt;
    access.indices.push_back({colon == std::string::npos ? upper(part) : part.substr(0, colon), *terms});
  }
  return access;
}

}  // namespace

std::optional<std::vector<std::pair<std::string, Count>>> read_index(const Cursor& cursor, std::string_view text,
                                                                     ImportLog& log) {
  std::vector<std::pair<std::string, Count>> terms;
  for (const std::string& term : split(without_blanks(text), "+")) {
    const std::size_t star = term.find('*');
    const std::string left = term.substr(0, star), right = star == std::string::npos ? "1" : term.substr(star + 1);
    const bool first_is_name = is_name(left);
    const auto factor = whole(first_is_name ? right : left);
    const std::string& variable = first_is_name ? left : right;
    if (!factor || *factor < 1 || !is_name(variable)) {
      log.unsupported(cursor.node().at, cursor.path(), fmt::format("the index `{}`", shorten(text, 40)),
                      "a sum of NUMBER*VARIABLE");
      return std::nullopt;
    }
    terms.emplace_back(variable, *factor);
  }
  return terms;
}

std::optional<std::pair<std::string, Count>> read_bound(const Cursor& cursor, std::string_view text, ImportLog& log) {
  const std::string plain = without_blanks(text);
  const std::size_t first = plain.find("0<="), second = plain.find('<', 3);
  if (first == 0 && second != std::string::npos) {
    const std::string variable = plain.substr(3, second - 3);
    const bool inclusive = second + 1 < plain.size() && plain[second + 1] == '=';
    const auto bound = whole(plain.substr(second + (inclusive ? 2 : 1)));
    if (is_name(variable) && bound && *bound + (inclusive ? 1 : 0) >= 1)
      return std::pair{variable, *bound + (inclusive ? 1 : 0)};
  }
  log.unsupported(cursor.node().at, cursor.path(), fmt::format("the iteration space `{}`", shorten(text, 60)),
                  "0 <= VARIABLE < NUMBER");
  return std::nullopt;
}

std::optional<Einsum> read_einsum_text(const Cursor& cursor, ImportLog& log) {
  const std::string text = without_blanks(cursor.text("an einsum").value_or(""));
  const auto sides = split(text, "=");
  if (sides.size() != 2) {
    cursor.problem(fmt::format("`{}` is no einsum", shorten(text, 60)), "T[m, n] = A[m, k] * B[k, n]");
    return std::nullopt;
  }
  Einsum einsum;
  einsum.at = cursor.node().at;
  einsum.product = split(sides[1], "+").size() == 1;
  const auto output = read_access(cursor, sides[0], log);
  if (!output) return std::nullopt;
  einsum.name = output->tensor;
  for (const std::string& part : split(sides[1], "*+")) {
    const auto operand = read_access(cursor, part, log);
    if (!operand) return std::nullopt;
    einsum.accesses.push_back(*operand);
  }
  einsum.accesses.push_back(*output);
  einsum.accesses.back().output = true;
  return einsum;
}

}  // namespace pliant::accelforge
