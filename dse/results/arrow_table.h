// SPDX-License-Identifier: Apache-2.0
// The tables of a dataset as Arrow has them, for readers that take Arrow.
#pragma once

#include <arrow/table.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "dse/results/data_table.h"

namespace pliant {

/// Every column as bool, int64, double or string, by its first cell that is not empty.
std::shared_ptr<arrow::Table> arrow_table(const DataTable& table);

/// What a dataset (a sweep's folder, or one Parquet file) holds of a table, every column, parts in order and not
/// copied together. Parts that cannot be read are left out and described in `damaged`; null when there is none.
std::shared_ptr<arrow::Table> read_arrow_table(const std::filesystem::path& dataset, TableKind table,
                                               std::vector<std::string>& damaged);

/// The files of a table: one file, or the parts of a folder.
std::vector<std::filesystem::path> table_files(const std::filesystem::path& dataset, TableKind table);

}  // namespace pliant
