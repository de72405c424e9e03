// SPDX-License-Identifier: Apache-2.0
// Numbers of a dataset as people read them: 0.382 mm2, 1.2 mJ, 2 MiB. Files and JSON keep the numbers as they are.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "dse/answers/arguments.h"
#include "dse/results/data_table.h"

namespace pliant {

/// In a unit of columns.h: 0.382 mm2 for 382000 and um2; six digits where the unit is none of a quantity.
std::string readable_in_unit(double value, const std::string& unit);

class CellsInUnits {
 public:
  /// The columns say their units; with --plain none has one.
  CellsInUnits(const Arguments& arguments, const std::vector<ColumnKind>& columns);

  /// `column` may be an aggregate such as min(area_um2).
  std::string text(const std::string& column, const Cell& cell) const;

 private:
  std::map<std::string, std::string, std::less<>> units_;  ///< by column
};

}  // namespace pliant
