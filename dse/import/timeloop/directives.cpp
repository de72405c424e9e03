// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cctype>

#include "core/input/source_text.h"
#include "core/input/units.h"
#include "dse/import/templates/expression.h"
#include "dse/import/timeloop/document.h"

namespace pliant::timeloop {
namespace {

/// A number, or an expression such as len(spec.problem.instance), which means: all dims.
std::optional<Count> read_split(const Cursor& cursor) {
  const ExpressionScope scope{[](const std::string& name) -> std::optional<Worth> {
                                if (name != "spec.problem.instance") return std::nullopt;
                                Worth all;
                                all.kind = Worth::Kind::kList;
                                all.list.resize(kMaxDims);
                                return all;
                              },
                              {}};
  if (cursor.node().is_scalar() && !cursor.node().text.empty() &&
      std::isalpha(static_cast<unsigned char>(cursor.node().text.front())) != 0) {
    try {
      const double value = evaluate_expression(cursor.node().text, scope).as_number();
      if (value >= 0 && value < 1e6) return static_cast<Count>(value);
    } catch (const ExpressionError&) {
      // Said below, in the words of the reader of numbers.
    }
  }
  return cursor.count(0);
}

bool says_something(const Cursor& cursor) {
  return !cursor.node().is_null() && cursor.node().text != "false" &&
         !(cursor.node().is_sequence() && cursor.node().items.empty());
}

/// Words between commas and blanks.
std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    if (c == ',' || std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (!word.empty()) words.push_back(std::move(word));
      word.clear();
    } else {
      word += c;
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

std::vector<std::string> words_of(const Cursor& cursor) {
  std::vector<std::string> words;
  if (cursor.node().is_sequence()) {
    for (const Cursor& item : cursor.items()) {
      for (std::string& word : split_words(item.text("a word").value_or(""))) words.push_back(std::move(word));
    }
  } else if (cursor.node().is_scalar()) {
    words = split_words(cursor.node().text);
  } else if (!cursor.node().is_null()) {
    cursor.problem(cursor.node().describe() + " is not a list", "a list of words");
  }
  return words;
}

std::optional<Directive::Kind> directive_kind(const Cursor& entry) {
  const auto type = entry.find("type");
  if (!type) {
    entry.require("type", "temporal, spatial or dataspace");
    return std::nullopt;
  }
  const std::string text = type->text("temporal, spatial or dataspace").value_or("");
  if (text == "temporal") return Directive::Kind::kTemporal;
  if (text == "spatial") return Directive::Kind::kSpatial;
  if (text == "bypass" || text == "bypassing" || text == "dataspace" || text == "datatype") {
    return Directive::Kind::kDataspace;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Factor> read_factors(const Cursor& cursor) {
  std::vector<Factor> factors;
  for (const std::string& word : words_of(cursor)) {
    const std::size_t mark = word.find_first_of("=<>");
    const std::size_t digits = mark == std::string::npos ? mark : word.find_first_not_of("=<>", mark);
    // R3 is Timeloop's old spelling of R=3.
    const std::size_t old = word.find_first_of("0123456789");
    Factor factor;
    std::string value;
    if (digits != std::string::npos) {
      factor.dim = word.substr(0, mark);
      factor.relation = word[mark];
      value = word.substr(digits);
    } else if (mark == std::string::npos && old != std::string::npos && old > 0) {
      factor.dim = word.substr(0, old);
      value = word.substr(old);
    }
    const auto parsed = parse_count(value);
    const Count* count = std::get_if<Count>(&parsed);
    if (factor.dim.empty() || count == nullptr || *count < 0) {
      cursor.problem(fmt::format("`{}` is not a factor", shorten(word, 40)), "DIM=NUMBER");
      continue;
    }
    factor.value = *count;
    factors.push_back(std::move(factor));
  }
  return factors;
}

std::vector<std::string> read_names(const Cursor& cursor, bool letters) {
  std::vector<std::string> words = words_of(cursor);
  if (!letters || !cursor.node().is_scalar() || words.size() != 1) return words;
  std::vector<std::string> all;
  for (const char c : words.front()) all.emplace_back(1, c);
  return all;
}

std::optional<Directive> read_directive(const Cursor& entry, ImportLog& log) {
  if (!entry.expect_map("a target with its type, factors and permutation")) return std::nullopt;
  const auto target = entry.require("target", "a component's name");
  const auto kind = directive_kind(entry);
  if (!target) return std::nullopt;
  Directive directive;
  directive.at = entry.node().at;
  directive.target = target->text("a component's name").value_or("");
  if (!kind) {
    const auto type = entry.find("type");
    if (type) log.unsupported(type->node().at, type->path(), "a constraint of the type " + type->node().describe());
    return std::nullopt;
  }
  directive.kind = *kind;
  if (const auto c = entry.find("factors")) directive.factors = read_factors(*c);
  if (const auto c = entry.find("permutation")) directive.permutation = read_names(*c, true);
  if (const auto c = entry.find("split"); c && !c->node().is_null()) directive.split = read_split(*c);
  if (const auto c = entry.find("keep")) directive.keep = read_names(*c, false);
  if (const auto c = entry.find("bypass")) directive.bypass = read_names(*c, false);
  if (const auto c = entry.find("factors_only"); c && !c->node().is_null()) {
    directive.others_one = true;
    for (Factor& factor : read_factors(*c)) directive.factors.push_back(std::move(factor));
  }
  if (const auto c = entry.find("keep_only"); c && !c->node().is_null()) {
    directive.bypass_others = true;
    directive.keep = read_names(*c, false);
  }
  if (const auto c = entry.find("no_iteration_over_dataspaces")) directive.no_loops_of = read_names(*c, false);
  for (const char* key :
       {"no_multicast_no_reduction", "no_reuse", "no_link_transfer", "min_parallelism", "default_max_factor",
        "remainders", "maximize_dims", "no_coalesce", "must_iterate_over_dataspaces", "rmw_first_update"}) {
    const auto found = entry.find(key);
    if (found && says_something(*found)) {
      log.unsupported(found->node().at, found->path(), fmt::format("the constraint {}", key));
    }
  }
  return directive;
}

std::vector<Directive> read_directives(const Cursor& list, ImportLog& log) {
  std::vector<Directive> all;
  if (list.node().is_null()) return all;
  if (!list.expect_list("a list of targets")) return all;
  for (const Cursor& entry : list.items()) {
    if (auto directive = read_directive(entry, log)) all.push_back(std::move(*directive));
  }
  return all;
}

}  // namespace pliant::timeloop
