// SPDX-License-Identifier: Apache-2.0
#include "dse/report/arrow_cells.h"

#include "dse/results/arrow_status.h"

namespace pliant {
namespace {

std::optional<double> real_at(const arrow::Array& array, std::int64_t i) {
  if (array.IsNull(i)) return std::nullopt;
  switch (array.type_id()) {
    case arrow::Type::DOUBLE: return static_cast<const arrow::DoubleArray&>(array).Value(i);
    case arrow::Type::INT64: return static_cast<double>(static_cast<const arrow::Int64Array&>(array).Value(i));
    case arrow::Type::INT32: return static_cast<const arrow::Int32Array&>(array).Value(i);
    default: return std::nullopt;
  }
}

std::string text_at(const arrow::Array& array, std::int64_t i) {
  if (array.IsNull(i) || array.type_id() != arrow::Type::STRING) return "";
  return static_cast<const arrow::StringArray&>(array).GetString(i);
}

/// StorageError when the column or field is not there: a file of another schema.
template <class Array, class Base>
std::shared_ptr<Array> as(const std::shared_ptr<Base>& array, arrow::Type::type type, const std::string& name) {
  if (array == nullptr || array->type_id() != type)
    throw StorageError("column " + name +
                       " is missing or of another kind; the dataset is of another version of Pliant");
  return std::static_pointer_cast<Array>(array);
}

std::shared_ptr<arrow::Array> column_of(const arrow::Table& table, const std::string& name) {
  const auto column = table.GetColumnByName(name);
  if (column == nullptr || column->num_chunks() != 1) return nullptr;
  return column->chunk(0);
}

const arrow::Array& known_column(const arrow::Table& table, const std::string& name) {
  const auto column = table.GetColumnByName(name);
  if (column == nullptr || column->num_chunks() != 1)
    throw StorageError("column " + name + " is missing; the dataset is of another version of Pliant");
  return *column->chunk(0);
}

}  // namespace

std::shared_ptr<arrow::Table> combined(const std::shared_ptr<arrow::Table>& table) {
  return require_value(table->CombineChunks(), "reading a table");
}

const arrow::StructArray& struct_column(const arrow::Table& table, const std::string& column) {
  return *as<arrow::StructArray>(column_of(table, column), arrow::Type::STRUCT, column);
}

// The fields of a struct in a slice are looked at as they are: parts are read whole.
std::optional<double> real_of(const arrow::StructArray& all, const std::string& field, std::int64_t i) {
  const auto values = all.GetFieldByName(field);
  return values == nullptr || all.IsNull(i) ? std::nullopt : real_at(*values, i);
}

std::string text_of(const arrow::StructArray& all, const std::string& field, std::int64_t i) {
  const auto values = all.GetFieldByName(field);
  return values == nullptr || all.IsNull(i) ? "" : text_at(*values, i);
}

bool bool_of(const arrow::StructArray& all, const std::string& field, std::int64_t i) {
  const auto values = all.GetFieldByName(field);
  if (values == nullptr || values->type_id() != arrow::Type::BOOL || all.IsNull(i) || values->IsNull(i)) return false;
  return static_cast<const arrow::BooleanArray&>(*values).Value(i);
}

std::string RowCells::text(const std::string& column, std::int64_t row) const {
  return text_at(known_column(table_, column), row);
}

std::int64_t RowCells::whole(const std::string& column, std::int64_t row) const {
  return static_cast<std::int64_t>(real(column, row).value_or(0));
}

std::optional<double> RowCells::real(const std::string& column, std::int64_t row) const {
  return real_at(known_column(table_, column), row);
}

ListCells::ListCells(const arrow::Table& table, const std::string& column)
    : lists_(as<arrow::ListArray>(column_of(table, column), arrow::Type::LIST, column)),
      elements_(as<arrow::StructArray>(lists_->values(), arrow::Type::STRUCT, column)) {}

ListCells::ListCells(const ListCells& outer, const std::string& field)
    : lists_(as<arrow::ListArray>(outer.elements_->GetFieldByName(field), arrow::Type::LIST, field)),
      elements_(as<arrow::StructArray>(lists_->values(), arrow::Type::STRUCT, field)) {}

std::pair<std::int64_t, std::int64_t> ListCells::range(std::int64_t row) const {
  if (lists_->IsNull(row)) return {0, 0};
  return {lists_->value_offset(row), lists_->value_offset(row + 1)};
}

TextListCells::TextListCells(const ListCells& outer, const std::string& field)
    : lists_(as<arrow::ListArray>(outer.elements_->GetFieldByName(field), arrow::Type::LIST, field)) {}

std::pair<std::int64_t, std::int64_t> TextListCells::range(std::int64_t row) const {
  if (lists_->IsNull(row)) return {0, 0};
  return {lists_->value_offset(row), lists_->value_offset(row + 1)};
}

std::string TextListCells::text(std::int64_t element) const { return text_at(*lists_->values(), element); }

}  // namespace pliant
