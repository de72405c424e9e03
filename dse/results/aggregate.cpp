// SPDX-License-Identifier: Apache-2.0
#include "dse/results/aggregate.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

namespace pliant {
namespace {

constexpr std::array<std::pair<std::string_view, Aggregate::Kind>, 4> kFunctions = {{
    {"min", Aggregate::Kind::kMin},
    {"max", Aggregate::Kind::kMax},
    {"mean", Aggregate::Kind::kMean},
    {"sum", Aggregate::Kind::kSum},
}};

std::optional<double> number(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  if (const auto* flag = std::get_if<bool>(&cell)) return *flag ? 1 : 0;
  return std::nullopt;
}

Cell over(const DataTable& table, const std::vector<std::size_t>& rows, const Aggregate& aggregate) {
  if (aggregate.kind == Aggregate::Kind::kCount) return static_cast<std::int64_t>(rows.size());
  std::vector<double> values;
  const DataColumn& column = *table.find(aggregate.column);
  for (const std::size_t row : rows)
    if (const auto value = number(column.cells[row])) values.push_back(*value);
  if (values.empty()) return {};
  switch (aggregate.kind) {
    case Aggregate::Kind::kMin: return std::ranges::min(values);
    case Aggregate::Kind::kMax: return std::ranges::max(values);
    case Aggregate::Kind::kMean:
      return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    default: return std::accumulate(values.begin(), values.end(), 0.0);
  }
}

}  // namespace

std::string Aggregate::name() const {
  for (const auto& [word, function] : kFunctions)
    if (function == kind) return std::string(word) + "(" + column + ")";
  return "count";
}

std::optional<Aggregate> Aggregate::parse(std::string_view text) {
  if (text == "count") return Aggregate{};
  for (const auto& [word, kind] : kFunctions) {
    if (!text.starts_with(word) || text.size() < word.size() + 3) continue;
    const std::string_view rest = text.substr(word.size());
    if (rest.front() == '(' && rest.back() == ')') return Aggregate{kind, std::string(rest.substr(1, rest.size() - 2))};
  }
  return std::nullopt;
}

std::vector<std::vector<std::size_t>> group_rows(const DataTable& table, const std::vector<std::string>& by,
                                                 const std::vector<std::size_t>& rows) {
  std::vector<const DataColumn*> columns;
  for (const std::string& name : by) columns.push_back(table.find(name));
  std::vector<std::vector<std::size_t>> groups;
  std::map<std::vector<std::string>, std::size_t> known;
  for (const std::size_t row : rows) {
    std::vector<std::string> key;
    for (const DataColumn* column : columns) key.push_back(to_text(column->cells[row]));
    const auto [place, is_new] = known.try_emplace(std::move(key), groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(row);
  }
  return groups;
}

DataTable aggregate(const DataTable& table, const std::vector<std::string>& by,
                    const std::vector<std::vector<std::size_t>>& groups, const std::vector<Aggregate>& aggregates) {
  DataTable all;
  for (const std::string& name : by) {
    all.columns.push_back({name, {}});
    for (const auto& rows : groups) all.columns.back().cells.push_back(table.find(name)->cells[rows.front()]);
  }
  for (const Aggregate& one : aggregates) {
    all.columns.push_back({one.name(), {}});
    for (const auto& rows : groups) all.columns.back().cells.push_back(over(table, rows, one));
  }
  return all;
}

int compare(const Cell& a, const Cell& b) {
  const auto order = [](const auto& x, const auto& y) { return x < y ? -1 : y < x ? 1 : 0; };
  const bool a_empty = std::holds_alternative<std::monostate>(a), b_empty = std::holds_alternative<std::monostate>(b);
  if (a_empty || b_empty) return order(a_empty, b_empty);
  const auto x = number(a), y = number(b);
  if (x && y) return order(*x, *y);
  return order(to_text(a), to_text(b));
}

}  // namespace pliant
