// SPDX-License-Identifier: Apache-2.0
// One condition on the rows of a table: `class == 1011`, `layer == conv*`, `edp_pj_cycles / area_um2 < 1e9`.
//
// Not an expression of Arrow's compute library: what is ours is the language (that of a sweep's `constraints:`, with
// its parser) and what is said about a wrong condition; evaluating it is ten lines.
#pragma once

#include <string>
#include <vector>

#include "dse/results/data_table.h"
#include "dse/sweep/constraint.h"

namespace pliant {

class RowFilter {
 public:
  /// InputError, which names the option, when it cannot be understood or names no column.
  RowFilter(const std::string& text, const std::vector<ColumnKind>& columns, const std::string& option = "--where");

  /// The columns it looks at.
  const std::vector<std::string>& names() const { return names_; }
  /// A row in which one of them is empty does not pass.
  bool passes(const DataTable& table, std::size_t row) const;

 private:
  std::vector<std::string> names_;
  std::vector<Constraint> numbers_;  ///< one, or none when texts are compared
  std::string text_;                 ///< what the column is compared with; * stands for any characters
  bool equal_ = true;
};

}  // namespace pliant
