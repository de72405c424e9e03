// SPDX-License-Identifier: Apache-2.0
// Values out of Arrow's nested columns, by name. Tables are of one chunk (`combined`), as one part of a dataset is.
#pragma once

#include <arrow/array.h>
#include <arrow/table.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace pliant {

/// The same table with every column in one chunk.
std::shared_ptr<arrow::Table> combined(const std::shared_ptr<arrow::Table>& table);

/// StorageError when there is no such column of structs; as good as the table.
const arrow::StructArray& struct_column(const arrow::Table& table, const std::string& column);
std::optional<double> real_of(const arrow::StructArray& all, const std::string& field, std::int64_t i);
std::string text_of(const arrow::StructArray& all, const std::string& field, std::int64_t i);  ///< "" when empty
bool bool_of(const arrow::StructArray& all, const std::string& field, std::int64_t i);

/// Flat columns.
class RowCells {
 public:
  explicit RowCells(const arrow::Table& table) : table_(table) {}
  std::string text(const std::string& column, std::int64_t row) const;
  std::int64_t whole(const std::string& column, std::int64_t row) const;
  std::optional<double> real(const std::string& column, std::int64_t row) const;

 private:
  const arrow::Table& table_;
};

/// A column of lists of structs; or such a list inside a struct.
class ListCells {
 public:
  ListCells(const arrow::Table& table, const std::string& column);
  ListCells(const ListCells& outer, const std::string& field);

  /// Where the elements of a row lie: from, to. Nothing when the row is empty.
  std::pair<std::int64_t, std::int64_t> range(std::int64_t row) const;
  std::string text(const std::string& field, std::int64_t element) const { return text_of(*elements_, field, element); }
  std::optional<double> real(const std::string& field, std::int64_t element) const {
    return real_of(*elements_, field, element);
  }
  bool flag(const std::string& field, std::int64_t element) const { return bool_of(*elements_, field, element); }

 private:
  std::shared_ptr<arrow::ListArray> lists_;
  std::shared_ptr<arrow::StructArray> elements_;  ///< null for lists of texts
  friend class TextListCells;
};

/// A list of texts inside the structs of a list.
class TextListCells {
 public:
  TextListCells(const ListCells& outer, const std::string& field);
  std::pair<std::int64_t, std::int64_t> range(std::int64_t row) const;
  std::string text(std::int64_t element) const;

 private:
  std::shared_ptr<arrow::ListArray> lists_;
};

}  // namespace pliant
