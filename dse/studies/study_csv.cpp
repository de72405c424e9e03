// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/study_csv.h"

#include <fmt/format.h>

#include <algorithm>

namespace pliant {

void StudyCsvRow::fail(std::size_t field, std::string what, std::string expected) const {
  const int column = field < row_.fields.size() ? row_.fields[field].column : 1;
  throw InputError(
      Diagnostic{*file_, row_.line, column, std::string(columns_[field]), std::move(what), std::move(expected), ""});
}

std::vector<StudyCsvRow> read_study_csv(std::string_view text, std::string_view file,
                                        const std::vector<std::string_view>& columns) {
  Diagnostics problems;
  const auto name = std::make_shared<const std::string>(file);
  std::vector<CsvRow> parsed = parse_csv(text, name, problems);
  problems.throw_if_any();
  std::vector<StudyCsvRow> rows;
  for (std::size_t i = 0; i < parsed.size(); ++i) {
    const std::size_t fields = parsed[i].fields.size();
    StudyCsvRow row(std::move(parsed[i]), name, columns);
    if (fields != columns.size()) row.fail(0, fmt::format("{} fields", fields), fmt::format("{}", columns.size()));
    if (i > 0) {
      rows.push_back(std::move(row));
      continue;
    }
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (row.text(c) != columns[c]) row.fail(c, "another column", std::string(columns[c]));
  }
  return rows;
}

}  // namespace pliant
