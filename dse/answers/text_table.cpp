// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace pliant {

std::size_t text_width(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

TextTable::TextTable(std::vector<std::string> header) {
  for (std::string& cell : header) {
    const bool left = cell.ends_with('<');
    if (left) cell.pop_back();
    left_.push_back(left || left_.empty());
  }
  rows_.push_back(std::move(header));
}

std::string TextTable::line(const std::vector<std::string>& row, const std::vector<std::size_t>& widths) const {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::size_t width = text_width(row[i]);
    const std::string blanks(widths[i] > width ? widths[i] - width : 0, ' ');
    if (i > 0) line += "  ";
    line += left_[i] ? row[i] + blanks : blanks + row[i];
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line + "\n";
}

std::string TextTable::text(const std::string& indent) const {
  std::vector<std::size_t> widths(left_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], text_width(row[i]));
  }
  std::string all;
  for (const auto& row : rows_) {
    all += indent + line(row, widths);
  }
  return all;
}

std::string readable_bytes(double bytes) {
  constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", bytes, kUnits[unit]);
}

std::string readable_count(double value) {
  constexpr std::array<std::string_view, 6> kUnits{"", " K", " M", " G", " T", " P"};
  if (value < 10'000) return fmt::format("{:.4g}", value);
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.4g}{}", value, kUnits[unit]);
}

}  // namespace pliant
