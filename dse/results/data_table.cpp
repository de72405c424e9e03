// SPDX-License-Identifier: Apache-2.0
#include "dse/results/data_table.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/table.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <system_error>

#include "dse/results/arrow_status.h"
#include "dse/results/parquet_file.h"
#include "dse/results/part_file.h"

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

bool is_flat(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::BOOL:
    case arrow::Type::INT32:
    case arrow::Type::INT64:
    case arrow::Type::DOUBLE:
    case arrow::Type::STRING: return true;
    default: return false;
  }
}

void append_file(const fs::path& file, DataTable& all) {
  const auto reader = open_parquet(file);
  std::shared_ptr<arrow::Schema> schema;
  require_ok(reader->GetSchema(&schema), file.string());
  std::vector<std::string> flat;
  for (const auto& field : schema->fields())
    if (is_flat(*field->type())) flat.push_back(field->name());
  const auto table = read_parquet(*reader, flat, file);
  if (all.columns.empty()) {
    for (const std::string& name : flat) all.columns.push_back({name, {}});
  } else if (all.names() != flat) {
    throw StorageError(fmt::format("{}: its columns differ from those of the parts before it", file.string()));
  }
  for (DataColumn& column : all.columns) {
    const auto chunks = table->GetColumnByName(column.name);
    for (const auto& chunk : chunks->chunks())
      for (std::int64_t i = 0; i < chunk->length(); ++i) column.cells.push_back(cell_of(*chunk, i));
  }
}

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

DataTable read_table(const fs::path& dataset, TableKind table, std::vector<std::string>& damaged) {
  DataTable all;
  std::error_code error;
  if (fs::is_regular_file(dataset, error)) {
    append_file(dataset, all);
    return all;
  }
  for (const std::int64_t part : list_parts(dataset)) {
    const fs::path file = part_path(dataset, table, part);
    if (!fs::exists(file, error)) continue;
    const std::size_t before = all.rows();
    try {
      append_file(file, all);
    } catch (const StorageError& problem) {
      for (DataColumn& column : all.columns) column.cells.resize(before);
      damaged.emplace_back(problem.what());
    }
  }
  return all;
}

void write_table(const DataTable& table, const fs::path& file) {
  if (file.extension() == ".csv") {
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
  if (file.extension() != ".parquet")
    throw StorageError(fmt::format("{}: a table is written as .parquet or .csv", file.string()));
  std::vector<std::shared_ptr<arrow::Field>> fields;
  std::vector<std::shared_ptr<arrow::Array>> arrays;
  for (const DataColumn& column : table.columns) {
    arrays.push_back(to_array(column));
    fields.push_back(arrow::field(column.name, arrays.back()->type()));
  }
  write_parquet(*arrow::Table::Make(arrow::schema(fields), arrays), file);
}

}  // namespace pliant
