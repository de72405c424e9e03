// SPDX-License-Identifier: Apache-2.0
// The comma-separated files that the studies read: a header that must be as expected, then rows whose faults are
// located.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/input/csv.h"

namespace pliant {

/// One row below the header; it has as many fields as the header.
class StudyCsvRow {
 public:
  StudyCsvRow(CsvRow row, std::shared_ptr<const std::string> file, const std::vector<std::string_view>& columns)
      : row_(std::move(row)), file_(std::move(file)), columns_(columns) {}
  const std::string& text(std::size_t field) const { return row_.fields[field].text; }
  /// InputError at a field: what is wrong, and what was expected.
  [[noreturn]] void fail(std::size_t field, std::string what, std::string expected) const;

 private:
  CsvRow row_;
  std::shared_ptr<const std::string> file_;
  std::vector<std::string_view> columns_;
};

/// InputError with the line that is wrong.
std::vector<StudyCsvRow> read_study_csv(std::string_view text, std::string_view file,
                                        const std::vector<std::string_view>& columns);

}  // namespace pliant
