// SPDX-License-Identifier: Apache-2.0
#include "dse/results/arrow_table.h"

#include <arrow/builder.h>

#include <algorithm>
#include <system_error>

#include "dse/results/arrow_status.h"
#include "dse/results/checked_file.h"
#include "dse/results/part_file.h"
#include "dse/results/stored_files.h"

namespace pliant {

namespace fs = std::filesystem;

namespace {

std::shared_ptr<arrow::Array> to_array(const DataColumn& column) {
  const auto first =
      std::ranges::find_if(column.cells, [](const Cell& c) { return !std::holds_alternative<std::monostate>(c); });
  const auto build = [&](auto builder, auto sample) {
    using Value = decltype(sample);
    for (const Cell& cell : column.cells) {
      const auto* value = std::get_if<Value>(&cell);
      require_ok(value == nullptr ? builder.AppendNull() : builder.Append(*value), "building a table");
    }
    return require_value(builder.Finish(), "building a table");
  };
  const std::size_t kind = first == column.cells.end() ? 3 : first->index();
  if (kind == 1) return build(arrow::BooleanBuilder(), bool{});
  if (kind == 2) return build(arrow::Int64Builder(), std::int64_t{});
  if (kind == 4) return build(arrow::StringBuilder(), std::string{});
  return build(arrow::DoubleBuilder(), double{});
}

}  // namespace

std::shared_ptr<arrow::Table> arrow_table(const DataTable& table) {
  std::vector<std::shared_ptr<arrow::Field>> fields;
  std::vector<std::shared_ptr<arrow::Array>> arrays;
  for (const DataColumn& column : table.columns) {
    arrays.push_back(to_array(column));
    fields.push_back(arrow::field(column.name, arrays.back()->type()));
  }
  return arrow::Table::Make(arrow::schema(fields), arrays);
}

std::vector<fs::path> table_files(const fs::path& dataset, TableKind table) {
  if (extension_of(dataset) == ".parquet" && is_address(dataset)) return {dataset};
  if (std::error_code error; fs::is_regular_file(dataset, error)) return {dataset};
  std::vector<fs::path> files;
  for (const std::int64_t part : list_parts(dataset)) {
    const fs::path file = part_path(dataset, table, part);
    if (is_there(file)) files.push_back(file);
  }
  return files;
}

std::shared_ptr<arrow::Table> read_arrow_table(const fs::path& dataset, TableKind table,
                                               std::vector<std::string>& damaged) {
  std::vector<std::shared_ptr<arrow::Table>> parts;
  for (const fs::path& file : table_files(dataset, table)) {
    try {
      auto part = CheckedFile(file).read({});
      // Parts say in their metadata which part they are; the columns are the same.
      parts.push_back(part->ReplaceSchemaMetadata(nullptr));
    } catch (const StorageError& problem) {
      damaged.emplace_back(problem.what());
    }
  }
  if (parts.empty()) return nullptr;
  return require_value(arrow::ConcatenateTables(parts), dataset.string());
}

}  // namespace pliant
