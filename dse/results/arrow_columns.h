// SPDX-License-Identifier: Apache-2.0
// Columns of a table while they are built, each with its unit and meaning. Only for the files that make tables.
#pragma once

#include <arrow/builder.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/version.h"
#include "dse/results/arrow_status.h"
#include "dse/results/columns.h"
#include "dse/results/rows.h"

namespace pliant {

// Only memory can run out here.
inline void must(const arrow::Status& status) {
  if (!status.ok()) require_ok(status, "building a table");
}

inline const auto kText = arrow::utf8();

template <class Builder>
Builder& child(arrow::StructBuilder& parent, int index) {
  return static_cast<Builder&>(*parent.field_builder(index));
}

/// Gathers the columns of a schema, each with its unit and meaning.
class SchemaColumns {
 public:
  explicit SchemaColumns(TableKind table) : infos_(column_infos(table)), table_(table) {}

  void add(const std::string& name, const std::shared_ptr<arrow::DataType>& type, const ColumnInfo* info = nullptr) {
    if (info == nullptr) {
      const auto known = std::ranges::find(infos_, name, &ColumnInfo::name);
      if (known == infos_.end()) throw std::logic_error("a column that columns.cpp does not explain: " + name);
      info = &*known;
    }
    auto metadata =
        arrow::key_value_metadata({"unit", "meaning"}, {std::string(info->unit), std::string(info->meaning)});
    fields_.push_back(arrow::field(name, type, true, std::move(metadata)));
  }

  void axis(const AxisColumn& axis) {
    const std::string meaning = "the value of " + axis.key + " in this design";
    const ColumnInfo info{axis.column, axis.unit, meaning};
    add(axis.column,
        axis.kind == AxisColumn::Kind::kInteger ? arrow::int64()
        : axis.kind == AxisColumn::Kind::kReal  ? arrow::float64()
                                                : kText,
        &info);
  }

  /// What identifies the design, and then the workload.
  void design(const Provenance& provenance) {
    add("design_id", arrow::int64());
    for (const AxisColumn& one : provenance.axes) axis(one);
    for (const char* name : {"flexibility", "class", "factorization", "objective", "mapper", "workload"})
      add(name, kText);
  }

  std::shared_ptr<arrow::Schema> schema(const Provenance& provenance) const {
    auto metadata = arrow::key_value_metadata(
        {"pliant.schema", "pliant.version", "pliant.table", "pliant.sweep", "pliant.sweep_sha256", "pliant.part"},
        {std::to_string(kTableSchema), version(), std::string(to_string(table_)), provenance.sweep_name,
         provenance.sweep_sha256, std::to_string(provenance.part)});
    return arrow::schema(fields_, std::move(metadata));
  }

 private:
  std::span<const ColumnInfo> infos_;
  TableKind table_;
  std::vector<std::shared_ptr<arrow::Field>> fields_;
};

/// The same with their values.
class Columns {
 public:
  explicit Columns(TableKind table) : schema_(table) {}

  /// Appends one value per row: `append(builder, row)`.
  template <class Builder, class Rows, class Append>
  void add(const std::string& name, const std::shared_ptr<arrow::DataType>& type, const Rows& rows, Append append) {
    schema_.add(name, type);
    fill<Builder>(type, rows, append);
  }

  std::shared_ptr<arrow::Table> table(const Provenance& provenance) {
    return arrow::Table::Make(schema_.schema(provenance), arrays_);
  }

 protected:
  template <class Builder, class Rows, class Append>
  void fill(const std::shared_ptr<arrow::DataType>& type, const Rows& rows, Append append) {
    std::unique_ptr<arrow::ArrayBuilder> builder;
    must(arrow::MakeBuilder(arrow::default_memory_pool(), type, &builder));
    must(builder->Reserve(static_cast<std::int64_t>(rows.size())));
    for (const auto& row : rows) append(static_cast<Builder&>(*builder), row);
    std::shared_ptr<arrow::Array> array;
    must(builder->Finish(&array));
    arrays_.push_back(std::move(array));
  }

  SchemaColumns schema_;

 private:
  std::vector<std::shared_ptr<arrow::Array>> arrays_;
};

template <class Row>
class RowColumns : public Columns {
 public:
  RowColumns(TableKind table, const std::vector<Row>& rows) : Columns(table), rows_(rows) {}

  template <class Get>
  void text(const std::string& name, Get get) {
    add<arrow::StringBuilder>(name, kText, rows_,
                              [&](arrow::StringBuilder& b, const Row& row) { must(b.Append(get(row))); });
  }
  /// Empty texts are nulls.
  template <class Get>
  void optional_text(const std::string& name, Get get) {
    add<arrow::StringBuilder>(name, kText, rows_, [&](arrow::StringBuilder& b, const Row& row) {
      const std::string value = get(row);
      must(value.empty() ? b.AppendNull() : b.Append(value));
    });
  }
  template <class Get>
  void integer(const std::string& name, Get get) {
    add<arrow::Int64Builder>(name, arrow::int64(), rows_,
                             [&](arrow::Int64Builder& b, const Row& row) { must(b.Append(get(row))); });
  }
  /// `holder(row)` gives something like a pointer to what `get` reads; null when the row has none.
  template <class Holder, class Get>
  void real_of(const std::string& name, Holder holder, Get get) {
    add<arrow::DoubleBuilder>(name, arrow::float64(), rows_, [&](arrow::DoubleBuilder& b, const Row& row) {
      const auto held = holder(row);
      must(held ? b.Append(get(*held)) : b.AppendNull());
    });
  }

  /// What identifies the design, and then the workload.
  void design(const Provenance& provenance) {
    integer("design_id", [](const Row& row) { return row.design->design_id; });
    for (std::size_t i = 0; i < provenance.axes.size(); ++i) axis(provenance.axes[i], i);
    text("flexibility", [](const Row& row) { return row.design->flexibility; });
    optional_text("class", [](const Row& row) { return row.design->class_bits; });
    text("factorization", [](const Row& row) { return row.design->factorization; });
    text("objective", [](const Row& row) { return row.design->objective; });
    text("mapper", [](const Row& row) { return row.design->mapper; });
    text("workload", [](const Row& row) { return row.workload; });
  }

 private:
  void axis(const AxisColumn& axis, std::size_t i) {
    schema_.axis(axis);
    switch (axis.kind) {
      case AxisColumn::Kind::kInteger:
        return fill<arrow::Int64Builder>(arrow::int64(), rows_, [&](arrow::Int64Builder& b, const Row& row) {
          must(b.Append(std::get<std::int64_t>(row.design->axes[i])));
        });
      case AxisColumn::Kind::kReal:
        return fill<arrow::DoubleBuilder>(arrow::float64(), rows_, [&](arrow::DoubleBuilder& b, const Row& row) {
          must(b.Append(std::get<double>(row.design->axes[i])));
        });
      case AxisColumn::Kind::kText:
        return fill<arrow::StringBuilder>(kText, rows_, [&](arrow::StringBuilder& b, const Row& row) {
          must(b.Append(std::get<std::string>(row.design->axes[i])));
        });
    }
  }

  const std::vector<Row>& rows_;
};

/// What is not finite is null.
inline void append_reals(arrow::StructBuilder& entry, int first, std::initializer_list<double> values) {
  for (const double value : values) {
    auto& column = child<arrow::DoubleBuilder>(entry, first++);
    must(std::isfinite(value) ? column.Append(value) : column.AppendNull());
  }
}

}  // namespace pliant
