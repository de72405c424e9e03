// SPDX-License-Identifier: Apache-2.0
// Tables of docs/studies beside the kept tables of results/studies.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "core/input/csv.h"
#include "support/file_text.h"

namespace pliant {

/// Ours by quantity, of results/studies/STUDY.csv.
inline std::map<std::string, double> kept_numbers(const std::string& study) {
  Diagnostics problems;
  std::map<std::string, double> kept;
  const std::string text = text_of(std::filesystem::path(PLIANT_SOURCE_DIR) / "results/studies" / (study + ".csv"));
  for (const CsvRow& row : parse_csv(text, std::make_shared<const std::string>("kept"), problems))
    if (row.fields.size() == 7 && row.fields[1].text != "quantity" && !row.fields[3].text.empty())
      kept[row.fields[1].text] = std::stod(row.fields[3].text);
  return kept;
}

using Cells = std::vector<std::string>;

/// The rows of the table on docs/studies/STUDY.md that begins with this line.
inline std::vector<Cells> table_on_page(const std::string& study, const std::string& heading) {
  const std::string text = text_of(std::filesystem::path(PLIANT_SOURCE_DIR) / "docs/studies" / (study + ".md"));
  std::vector<Cells> rows;
  std::size_t at = text.find(heading);
  EXPECT_NE(at, std::string::npos) << heading;
  while (at < text.size() && text[at] == '|') {
    const std::size_t end = text.find('\n', at);
    Cells cells;
    for (std::size_t from = at + 1; from < end;) {
      const std::size_t to = text.find('|', from);
      std::string cell = text.substr(from, to - from);
      cell.erase(0, cell.find_first_not_of(' '));
      cell.erase(cell.find_last_not_of(' ') + 1);
      cells.push_back(std::move(cell));
      from = to + 1;
    }
    rows.push_back(std::move(cells));
    at = end + 1;
  }
  return rows;
}

inline std::string without_commas(std::string text) {
  std::erase(text, ',');
  return text;
}

/// "1.74", "10.1 %", "1.30x", "3,677": the number, rounded as it is printed.
inline void expect_printed(const std::string& cell, const std::map<std::string, double>& kept,
                           const std::string& quantity) {
  const auto ours = kept.find(quantity);
  ASSERT_NE(ours, kept.end()) << quantity;
  const std::string digits = without_commas(cell.substr(0, cell.find_first_not_of("0123456789.,")));
  ASSERT_FALSE(digits.empty()) << cell;
  const std::size_t point = digits.find('.');
  const int decimals = point == std::string::npos ? 0 : static_cast<int>(digits.size() - point - 1);
  const double last_digit = std::pow(10, -decimals);
  EXPECT_NEAR(std::stod(digits), ours->second, 0.5 * last_digit * (1 + 1e-6)) << quantity;
}

/// "1.00, **1.58**, 2.53": least, median and most over designs that are equally good.
inline void expect_three(const std::string& cell, const std::map<std::string, double>& kept, const std::string& before,
                         const std::string& after, std::array<const char*, 3> words = {"least", "median", "most"}) {
  std::string plain;
  for (const char c : cell)
    if (c != '*') plain += c;
  std::istringstream numbers(plain);
  std::string one;
  for (const char* which : words) {
    ASSERT_TRUE(std::getline(numbers, one, ',')) << cell;
    one.erase(0, one.find_first_not_of(' '));
    expect_printed(one, kept, before + which + after);
  }
}

}  // namespace pliant
