// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/row_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/input/diagnostics.h"
#include "core/input/one_of.h"
#include "dse/answers/dataset_options.h"
#include "dse/sweep/name_pattern.h"

namespace pliant {
namespace {

constexpr const char* kExpectedComparison = "a comparison such as class == 1011 or area_um2 <= 8e5";

std::string trimmed(std::string text) {
  text.erase(0, text.find_first_not_of(' '));
  text.erase(text.find_last_not_of(' ') + 1);
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

const ColumnKind* find(const std::vector<ColumnKind>& columns, const std::string& name) {
  const auto found = std::ranges::find(columns, name, &ColumnKind::name);
  return found == columns.end() ? nullptr : &*found;
}

}  // namespace

RowFilter::RowFilter(const std::string& text, const std::vector<ColumnKind>& columns, const std::string& option) {
  const auto refuse = [&](const std::string& what, const std::string& expected, const std::string& near = {}) {
    return InputError(Diagnostic{option + " " + text, 0, 0, "", what, expected, near});
  };
  // 1. A column of texts or flags is compared with a text.
  const std::size_t sign = text.find_first_of("=!<>");
  const ColumnKind* left = sign == std::string::npos ? nullptr : find(columns, trimmed(text.substr(0, sign)));
  if (left != nullptr && left->kind != ColumnKind::Kind::kNumber) {
    if (text.substr(sign, 2) != "==" && text.substr(sign, 2) != "!=")
      throw refuse(fmt::format("{} is not a number", left->name), "== or !=");
    equal_ = text[sign] == '=';
    text_ = trimmed(text.substr(sign + 2));
    names_ = {left->name};
    return;
  }
  // 2. Numbers may be calculated with.
  auto parsed = Constraint::parse(text);
  if (const auto* what = std::get_if<std::string>(&parsed)) throw refuse(*what, kExpectedComparison);
  numbers_.push_back(std::get<Constraint>(parsed));
  names_ = numbers_.front().names();
  std::vector<std::string> known;
  for (const ColumnKind& column : columns) known.push_back(column.name);
  for (const std::string& name : names_) {
    const ColumnKind* column = find(columns, name);
    if (column == nullptr)
      throw refuse(fmt::format("no column `{}`", name), one_of(name, known), nearest_column(name, known));
    if (column->kind != ColumnKind::Kind::kNumber)
      throw refuse(fmt::format("{} is not a number", name), "the column of texts on the left, as in class == 1011");
    if (numbers_.front().has_sizes() && column->unit != "B")
      throw refuse(fmt::format("a size in bytes beside {}, which is {}", name,
                               column->unit.empty() || column->unit == "1" ? "a plain number" : "in " + column->unit),
                   column->unit == "bit" ? "bits, such as 8*1048576 for 1 MiB" : "a number in the unit of the column");
  }
}

bool RowFilter::passes(const DataTable& table, std::size_t row) const {
  if (numbers_.empty()) {
    const Cell& cell = table.find(names_.front())->cells[row];
    return !std::holds_alternative<std::monostate>(cell) && matches_pattern(text_, to_text(cell)) == equal_;
  }
  return numbers_.front().holds([&](const std::string& name) -> std::optional<double> {
    const Cell& cell = table.find(name)->cells[row];
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&cell)) return *real;
    return std::nullopt;
  }) == true;
}

}  // namespace pliant
