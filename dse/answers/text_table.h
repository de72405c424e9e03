// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace pliant {

/// Rows of cells as aligned text: the first column and those named in the header with a trailing `<` to the left, the
/// others to the right. Widths count characters, not bytes.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// One line, for tables that are printed row by row: cells that are wider than said make it longer.
  std::string line(const std::vector<std::string>& row, const std::vector<std::size_t>& widths) const;
  const std::vector<std::string>& header() const { return rows_.front(); }
  /// Every line starts with `indent` and ends without blanks.
  std::string text(const std::string& indent) const;

 private:
  std::vector<bool> left_;
  std::vector<std::vector<std::string>> rows_;  ///< the header first
};

/// Characters of UTF-8 text.
std::size_t text_width(const std::string& text);

/// "128 KiB", "96 B".
std::string readable_bytes(double bytes);

/// 115.6 M, 4.09 G; plain below 10000.
std::string readable_count(double value);

}  // namespace pliant
