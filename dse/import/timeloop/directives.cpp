// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cctype>

#include "core/input/source_text.h"
#include "core/input/units.h"
#include "dse/import/timeloop/document.h"

namespace pliant::timeloop {
namespace {

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
    cursor.problem(cursor.node().describe() + " is no list", "a list of words");
  }
  return words;
}

std::optional<Directive::Kind> kind_of(const Cursor& entry) {
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
      cursor.problem(fmt::format("`{}` is no factor", shorten(word, 40)), "DIM=NUMBER");
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
  const auto kind = kind_of(entry);
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
  if (const auto c = entry.find("split"); c && !c->node().is_null()) directive.split = c->count(0);
  if (const auto c = entry.find("keep")) directive.keep = read_names(*c, false);
  if (const auto c = entry.find("bypass")) directive.bypass = read_names(*c, false);
  for (const char* key : {"no_multicast_no_reduction", "no_reuse", "no_iteration_over_dataspaces", "no_link_transfer",
                          "min_parallelism", "default_max_factor", "remainders", "factors_only"}) {
    const auto found = entry.find(key);
    const bool says_something = found && !found->node().is_null() && found->node().text != "false" &&
                                !(found->node().is_sequence() && found->node().items.empty());
    if (says_something) log.unsupported(found->node().at, found->path(), fmt::format("the constraint {}", key));
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
