// SPDX-License-Identifier: Apache-2.0
// Comma-separated text with the position of every field. Lines that start with # and blank lines are skipped; fields
// may stand in double quotes, "" inside them is one quote.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/input/yaml_node.h"

namespace pliant {

struct CsvField {
  std::string text;
  int column = 1;  ///< 1-based, in bytes of the line
};

struct CsvRow {
  int line = 1;
  std::vector<CsvField> fields;
  bool good = true;  ///< false after a problem was noted
};

/// All rows, the header first; unclosed quotes are noted.
std::vector<CsvRow> parse_csv(std::string_view text, const std::shared_ptr<const std::string>& file,
                              Diagnostics& problems);

}  // namespace pliant
