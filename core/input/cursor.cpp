// SPDX-License-Identifier: Apache-2.0
#include "core/input/cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/input/number_limits.h"
#include "core/input/source_text.h"
#include "core/input/units.h"

namespace pliant {
namespace {

constexpr std::size_t kShownOfKey = 40;

std::string child_path(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + shorten(key, kShownOfKey);
}

void note(const Cursor& cursor, const UnitError& error) {
  cursor.problem(error.what, error.expected, error.did_you_mean);
}

template <class Number>
std::optional<Number> number(const Cursor& cursor, Parsed<Number> (*parse)(std::string_view), std::string_view expected,
                             Number least) {
  const YamlNode& node = cursor.node();
  if (!node.is_scalar()) {
    cursor.problem(node.is_null() ? "no value" : node.describe() + " where a number belongs", std::string(expected));
    return std::nullopt;
  }
  const Parsed<Number> parsed = parse(node.text);
  if (const auto* error = std::get_if<UnitError>(&parsed)) return note(cursor, *error), std::nullopt;
  const Number value = std::get<Number>(parsed);
  if (value >= least) return value;
  cursor.problem(fmt::format("{} is too small", value), fmt::format("at least {}", least));
  return std::nullopt;
}

}  // namespace

std::vector<std::string> to_words(Keys keys) { return {keys.begin(), keys.end()}; }

bool is_name(std::string_view text) {
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  return !text.empty() && text.size() <= 100 && letter(text.front()) && std::ranges::all_of(text, [&](char c) {
    return letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '-';
  });
}

void check_kind(const Cursor& root, std::string_view kind) {
  if (!root.node().is_map()) return;
  const auto tag = root.find("pliant");
  if (!tag) return;
  const auto text = tag->text("the kind of file");
  if (text && *text != kind)
    tag->problem(fmt::format("this is a file of kind `{}`", shorten(*text, kShownOfKey)), std::string(kind));
}

void Cursor::problem(std::string what, std::string expected, std::string did_you_mean) const {
  if (node_->noted) return;
  std::string key = path_;
  if (!node_->parameter.empty()) key += fmt::format(" (${})", node_->parameter);
  problems_->add(node_->at, std::move(key), std::move(what), std::move(expected), std::move(did_you_mean));
}

bool Cursor::expect_map(std::string_view expected) const {
  if (node_->is_map()) return true;
  problem(node_->is_null() ? "no value" : node_->describe() + " is not a map", std::string(expected));
  return false;
}

bool Cursor::expect_list(std::string_view expected) const {
  if (node_->is_sequence()) return true;
  problem(node_->is_null() ? "no value" : node_->describe() + " is not a list", std::string(expected));
  return false;
}

bool Cursor::only_keys(Keys keys, std::string_view expected) const {
  if (!expect_map(expected)) return false;
  for (const YamlEntry& entry : node_->entries) {
    if (std::ranges::find(keys, std::string_view(entry.key)) != keys.end()) continue;
    if (problems_->full()) {
      problems_->add(Diagnostic{});
      continue;
    }
    const std::string near = nearest(entry.key, to_words(keys));
    problems_->add(entry.at, child_path(path_, entry.key), "unknown key", "one of " + join(keys), near);
    if (!near.empty()) problems_->note_misspelt(*node_, near);
  }
  return true;
}

std::optional<Cursor> Cursor::find(std::string_view key) const {
  const YamlNode* value = node_->find(key);
  if (value == nullptr) return std::nullopt;
  return Cursor(*value, child_path(path_, key), *problems_);
}

std::optional<Cursor> Cursor::require(std::string_view key, std::string_view expected) const {
  auto found = find(key);
  if (!found && !problems_->is_misspelt(*node_, std::string(key)))
    problems_->add(node_->at, child_path(path_, key), "missing key", std::string(expected));
  return found;
}

std::vector<Cursor> Cursor::items() const {
  std::vector<Cursor> all;
  all.reserve(node_->items.size());
  for (std::size_t i = 0; i < node_->items.size(); ++i) {
    all.emplace_back(node_->items[i], fmt::format("{}[{}]", path_, i), *problems_);
  }
  return all;
}

std::vector<Cursor> Cursor::entries() const {
  std::vector<Cursor> all;
  all.reserve(node_->entries.size());
  for (const YamlEntry& entry : node_->entries) {
    all.emplace_back(entry.value, child_path(path_, entry.key), *problems_);
  }
  return all;
}

std::optional<std::string> Cursor::text(std::string_view expected) const {
  if (node_->is_scalar() && !node_->text.empty()) return node_->text;
  const bool nothing = node_->is_null() || node_->is_scalar();
  problem(nothing ? "no value" : node_->describe() + " where a word belongs", std::string(expected));
  return std::nullopt;
}

std::optional<std::string> Cursor::name() const {
  auto word = text("a name");
  if (!word || is_name(*word)) return word;
  problem(node_->describe() + " is not a name", "letters, digits, _ and -, starting with a letter");
  return std::nullopt;
}

std::optional<bool> Cursor::flag() const {
  if (node_->is_scalar() && !node_->quoted) {
    if (node_->text == "true") return true;
    if (node_->text == "false") return false;
    for (const std::string_view yes : {"yes", "Yes", "YES", "on", "On", "ON", "True", "TRUE", "y", "1"}) {
      if (node_->text == yes)
        return problem(node_->describe() + " is not true or false", "true or false", "true"), std::nullopt;
    }
    for (const std::string_view no : {"no", "No", "NO", "off", "Off", "OFF", "False", "FALSE", "n", "0"}) {
      if (node_->text == no)
        return problem(node_->describe() + " is not true or false", "true or false", "false"), std::nullopt;
    }
  }
  problem(node_->is_null() ? "no value" : node_->describe() + " is not true or false", "true or false");
  return std::nullopt;
}

std::optional<Count> Cursor::count(Count least, Count most) const {
  const auto value = number(*this, parse_count, "a whole number", least);
  if (!value || *value <= most) return value;
  problem(fmt::format("{} is too large", *value), fmt::format("at most {}", most));
  return std::nullopt;
}

std::optional<double> Cursor::real(double least) const {
  const auto value = number(*this, parse_real, "a number", least);
  if (!value || *value <= kMostReal) return value;
  problem(fmt::format("{:g} is too large", *value), fmt::format("at most {:g}", kMostReal));
  return std::nullopt;
}

std::optional<double> Cursor::positive_real() const {
  const auto value = real(-std::numeric_limits<double>::max());
  if (!value || *value >= kLeastPositiveReal) return value;
  problem(fmt::format("{} is too small", *value),
          *value > 0 ? fmt::format("at least {:g}", kLeastPositiveReal) : "more than 0");
  return std::nullopt;
}

std::optional<std::size_t> Cursor::choice(Keys words) const {
  const auto word = text("one of " + join(words));
  if (!word) return std::nullopt;
  const auto found = std::ranges::find(words, std::string_view(*word));
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  problem(fmt::format("unknown value {}", node_->describe()), "one of " + join(words), nearest(*word, to_words(words)));
  return std::nullopt;
}

}  // namespace pliant
