// SPDX-License-Identifier: Apache-2.0
// Flat columns in memory: what the Pareto analysis and other readers see of a dataset without knowing Arrow.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dse/results/columns.h"

namespace pliant {

/// monostate = empty.
using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

struct DataColumn {
  std::string name;
  std::vector<Cell> cells;
};

struct DataTable {
  std::vector<DataColumn> columns;
  std::size_t rows() const { return columns.empty() ? 0 : columns.front().cells.size(); }
  const DataColumn* find(std::string_view name) const;
  std::vector<std::string> names() const;
  /// The rows with these numbers, in that order.
  DataTable pick(const std::vector<std::size_t>& rows) const;
};

/// Text for people and CSV: shortest digits that read back as the same number, "" when empty.
std::string to_text(const Cell& cell);

struct ColumnKind {
  enum class Kind { kBool, kNumber, kText } kind = Kind::kNumber;
  std::string name;
  std::string unit = {};  ///< as columns.h has it
};
/// The flat columns of a table, those of a structured column by path (`certificate.gap`); lists are left out. Empty
/// when the dataset holds no part that can be read.
std::vector<ColumnKind> table_columns(const std::filesystem::path& dataset, TableKind table);
/// The same, and what is wrong with the parts before the one that could be read.
std::vector<ColumnKind> table_columns(const std::filesystem::path& dataset, TableKind table,
                                      std::vector<std::string>& damaged);

/// What is wanted of a table. Parts are read one after the other, so only what is kept takes memory.
struct TableChoice {
  std::vector<std::string> columns;                                  ///< empty = all flat ones
  std::function<bool(const DataTable& part, std::size_t row)> keep;  ///< empty = all rows
};
/// What a dataset (a sweep's folder, or one Parquet file) holds of a table, parts in order. Parts that cannot be read
/// are left out and described in `damaged`.
DataTable read_table(const std::filesystem::path& dataset, TableKind table, std::vector<std::string>& damaged,
                     const TableChoice& choice = {});

/// By the file's ending: .parquet or .csv. StorageError when the disk refuses.
void write_table(const DataTable& table, const std::filesystem::path& file);

}  // namespace pliant
