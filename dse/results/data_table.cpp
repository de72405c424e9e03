// SPDX-License-Identifier: Apache-2.0
#include "dse/results/data_table.h"

#include <arrow/array.h>
#include <arrow/table.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "dse/results/arrow_status.h"
#include "dse/results/arrow_table.h"
#include "dse/results/checked_file.h"
#include "dse/results/parquet_file.h"
#include "dse/results/stored_files.h"

namespace pliant {

namespace fs = std::filesystem;

namespace {

Cell cell_of(const arrow::Array& array, std::int64_t i) {
  if (array.IsNull(i)) return {};
  switch (array.type_id()) {
    case arrow::Type::BOOL: return static_cast<const arrow::BooleanArray&>(array).Value(i);
    case arrow::Type::INT32: return std::int64_t{static_cast<const arrow::Int32Array&>(array).Value(i)};
    case arrow::Type::INT64: return static_cast<const arrow::Int64Array&>(array).Value(i);
    case arrow::Type::DOUBLE: return static_cast<const arrow::DoubleArray&>(array).Value(i);
    case arrow::Type::STRING: return static_cast<const arrow::StringArray&>(array).GetString(i);
    default: return {};
  }
}

/// Structs are opened, lists left out.
void add_columns(const arrow::Field& field, const std::string& above, std::vector<ColumnKind>& all) {
  const std::string name = above.empty() ? field.name() : above + "." + field.name();
  const std::string unit = field.metadata() ? field.metadata()->Get("unit").ValueOr(std::string()) : std::string();
  switch (field.type()->id()) {
    case arrow::Type::BOOL: return all.push_back({ColumnKind::Kind::kBool, name, unit});
    case arrow::Type::INT32:
    case arrow::Type::INT64:
    case arrow::Type::DOUBLE: return all.push_back({ColumnKind::Kind::kNumber, name, unit});
    case arrow::Type::STRING: return all.push_back({ColumnKind::Kind::kText, name, unit});
    case arrow::Type::STRUCT:
      for (const auto& child : field.type()->fields()) add_columns(*child, name, all);
      return;
    default: return;
  }
}

std::vector<ColumnKind> file_columns(const CheckedFile& file) {
  std::vector<ColumnKind> all;
  for (const auto& field : file.schema().fields()) add_columns(*field, "", all);
  return all;
}

DataTable read_file(const fs::path& file, const std::vector<std::string>& wanted) {
  const CheckedFile checked(file);
  DataTable part;
  std::vector<std::string> roots;
  for (const ColumnKind& column : file_columns(checked)) {
    if (!wanted.empty() && std::ranges::find(wanted, column.name) == wanted.end()) continue;
    part.columns.push_back({column.name, {}});
    roots.push_back(column.name.substr(0, column.name.find('.')));
  }
  if (part.columns.empty()) return part;
  // As deep as a certificate: one flattening opens all structs there are.
  const auto table = require_value(checked.read(roots)->Flatten(), file.string());
  for (DataColumn& column : part.columns) {
    const auto chunks = table->GetColumnByName(column.name);
    if (chunks == nullptr) throw StorageError(fmt::format("{}: cannot read column {}", file.string(), column.name));
    for (const auto& chunk : chunks->chunks())
      for (std::int64_t i = 0; i < chunk->length(); ++i) column.cells.push_back(cell_of(*chunk, i));
  }
  return part;
}

void append_file(const fs::path& file, const TableChoice& choice, DataTable& all) {
  DataTable part = read_file(file, choice.columns);
  if (all.columns.empty()) {
    for (const DataColumn& column : part.columns) all.columns.push_back({column.name, {}});
  } else if (all.names() != part.names()) {
    throw StorageError(fmt::format("{}: its columns differ from those of the parts before it", file.string()));
  }
  std::vector<std::size_t> kept;
  for (std::size_t row = 0; row < part.rows(); ++row)
    if (!choice.keep || choice.keep(part, row)) kept.push_back(row);
  for (std::size_t c = 0; c < all.columns.size(); ++c)
    for (const std::size_t row : kept) all.columns[c].cells.push_back(std::move(part.columns[c].cells[row]));
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

const DataColumn* DataTable::find(std::string_view name) const {
  const auto found = std::ranges::find(columns, name, &DataColumn::name);
  return found == columns.end() ? nullptr : &*found;
}

std::vector<std::string> DataTable::names() const {
  std::vector<std::string> all;
  for (const DataColumn& column : columns) all.push_back(column.name);
  return all;
}

DataTable DataTable::pick(const std::vector<std::size_t>& rows) const {
  DataTable picked;
  for (const DataColumn& column : columns) {
    picked.columns.push_back({column.name, {}});
    for (const std::size_t row : rows) picked.columns.back().cells.push_back(column.cells[row]);
  }
  return picked;
}

std::string to_text(const Cell& cell) {
  if (const auto* flag = std::get_if<bool>(&cell)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *number);
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{}", *number);
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return "";
}

std::vector<ColumnKind> table_columns(const fs::path& dataset, TableKind table) {
  std::vector<std::string> damaged;
  return table_columns(dataset, table, damaged);
}

std::vector<ColumnKind> table_columns(const fs::path& dataset, TableKind table, std::vector<std::string>& damaged) {
  for (const fs::path& file : table_files(dataset, table)) {
    try {
      return file_columns(CheckedFile(file));
    } catch (const StorageError& problem) {
      damaged.emplace_back(problem.what());  // the next part has the same columns
    }
  }
  return {};
}

DataTable read_table(const fs::path& dataset, TableKind table, std::vector<std::string>& damaged,
                     const TableChoice& choice) {
  DataTable all;
  for (const fs::path& file : table_files(dataset, table)) {
    try {
      append_file(file, choice, all);
    } catch (const StorageError& problem) {
      damaged.emplace_back(problem.what());
    }
  }
  return all;
}

void write_table(const DataTable& table, const fs::path& file) {
  const fs::path extension = extension_of(file);
  if (extension == ".csv") {
    std::string text;
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      text += (c == 0 ? "" : ",") + csv_cell(table.columns[c].name);
    text += "\n";
    for (std::size_t row = 0; row < table.rows(); ++row) {
      for (std::size_t c = 0; c < table.columns.size(); ++c)
        text += (c == 0 ? "" : ",") + csv_cell(to_text(table.columns[c].cells[row]));
      text += "\n";
    }
    return write_atomically(file, text);
  }
  if (extension != ".parquet")
    throw StorageError(fmt::format("{}: a table is written as .parquet or .csv", file.string()));
  write_atomically(file, parquet_bytes(*arrow_table(table)));
}

}  // namespace pliant
