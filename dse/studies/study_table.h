// SPDX-License-Identifier: Apache-2.0
// Tables of points, made row by row.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "dse/results/data_table.h"

namespace pliant {

inline DataTable table_of(std::initializer_list<const char*> names) {
  DataTable table;
  for (const char* name : names) table.columns.push_back({name, {}});
  return table;
}

/// One value for each column: bool, std::int64_t, double or std::string.
template <class... Values>
void add_row(DataTable& table, Values&&... values) {
  std::size_t column = 0;
  (table.columns[column++].cells.emplace_back(std::forward<Values>(values)), ...);
}

}  // namespace pliant
