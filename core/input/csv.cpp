// SPDX-License-Identifier: Apache-2.0
#include "core/input/csv.h"

#include <algorithm>

namespace pliant {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Reads the field at `at` and leaves `at` behind it, at a comma or at the end.
CsvField read_field(std::string_view line, std::size_t& at, bool& good) {
  while (at < line.size() && is_blank(line[at])) ++at;
  CsvField field;
  field.column = static_cast<int>(at) + 1;
  good = true;
  if (at < line.size() && line[at] == '"') {
    for (++at; at < line.size(); ++at) {
      if (line[at] == '"' && at + 1 < line.size() && line[at + 1] == '"') {
        field.text += line[at++];
      } else if (line[at] == '"') {
        break;
      } else {
        field.text += line[at];
      }
    }
    good = at < line.size();
    ++at;
    while (at < line.size() && is_blank(line[at])) ++at;
    good &= at >= line.size() || line[at] == ',';
    at = std::min(line.find(',', std::min(at, line.size())), line.size());
    return field;
  }
  const std::size_t end = std::min(line.find(',', at), line.size());
  field.text = line.substr(at, end - at);
  while (!field.text.empty() && is_blank(field.text.back())) field.text.pop_back();
  at = end;
  return field;
}

}  // namespace

std::vector<CsvRow> parse_csv(std::string_view text, const std::shared_ptr<const std::string>& file,
                              Diagnostics& problems) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::vector<CsvRow> rows;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with('#') || std::ranges::all_of(line, is_blank)) continue;
    CsvRow row;
    row.line = number;
    for (std::size_t at = 0;; ++at) {
      bool good = true;
      row.fields.push_back(read_field(line, at, good));
      row.good = row.good && good;
      if (!good) {
        problems.add({file, number, row.fields.back().column}, "", "a quoted field does not end",
                     "\"text\" and then a comma");
      }
      if (at >= line.size()) break;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace pliant
