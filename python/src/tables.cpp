// SPDX-License-Identifier: Apache-2.0
#include "src/tables.h"

#include <arrow/array.h>
#include <arrow/c/bridge.h>

#include "dse/results/arrow_status.h"
#include "dse/results/arrow_table.h"
#include "src/bindings.h"

namespace pliant::python {
namespace {

constexpr const char* kStreamName = "arrow_array_stream";
constexpr const char* kSchemaName = "arrow_schema";

/// Whoever takes the content of a capsule marks it as released; else it is released here.
template <class Exported>
void delete_exported(PyObject* capsule, const char* name) {
  auto* exported = static_cast<Exported*>(PyCapsule_GetPointer(capsule, name));
  if (exported == nullptr) return;
  if (exported->release != nullptr) exported->release(exported);
  delete exported;
}

nb::object stream_of(const ArrowTable& shown, const nb::object& /*requested_schema*/) {
  auto exported = std::make_unique<ArrowArrayStream>();
  const auto reader = std::make_shared<arrow::TableBatchReader>(shown.table);
  require_ok(arrow::ExportRecordBatchReader(reader, exported.get()), "exporting a table");
  return nb::steal(PyCapsule_New(exported.release(), kStreamName,
                                 [](PyObject* capsule) { delete_exported<ArrowArrayStream>(capsule, kStreamName); }));
}

nb::object schema_of(const ArrowTable& shown) {
  auto exported = std::make_unique<ArrowSchema>();
  require_ok(arrow::ExportSchema(*shown.table->schema(), exported.get()), "exporting a schema");
  return nb::steal(PyCapsule_New(exported.release(), kSchemaName,
                                 [](PyObject* capsule) { delete_exported<ArrowSchema>(capsule, kSchemaName); }));
}

nb::object cell(const arrow::Array& array, std::int64_t i) {
  if (array.IsNull(i)) return nb::none();
  switch (array.type_id()) {
    case arrow::Type::BOOL: return nb::cast(static_cast<const arrow::BooleanArray&>(array).Value(i));
    case arrow::Type::INT32: return nb::cast(static_cast<const arrow::Int32Array&>(array).Value(i));
    case arrow::Type::INT64: return nb::cast(static_cast<const arrow::Int64Array&>(array).Value(i));
    case arrow::Type::DOUBLE: return nb::cast(static_cast<const arrow::DoubleArray&>(array).Value(i));
    case arrow::Type::STRING: return nb::cast(static_cast<const arrow::StringArray&>(array).GetString(i));
    case arrow::Type::STRUCT: {
      const auto& all = static_cast<const arrow::StructArray&>(array);
      nb::dict fields;
      for (int f = 0; f < all.num_fields(); ++f)
        fields[all.struct_type()->field(f)->name().c_str()] = cell(*all.field(f), i);
      return fields;
    }
    case arrow::Type::LIST: {
      const auto& lists = static_cast<const arrow::ListArray&>(array);
      nb::list items;
      for (std::int64_t k = lists.value_offset(i); k < lists.value_offset(i + 1); ++k)
        items.append(cell(*lists.values(), k));
      return items;
    }
    default: throw nb::type_error(("no Python value for a column of " + array.type()->ToString()).c_str());
  }
}

nb::list column(const ArrowTable& shown, const std::string& name) {
  const auto chunks = shown.table->GetColumnByName(name);
  if (chunks == nullptr) throw nb::key_error(name.c_str());
  nb::list cells;
  for (const auto& chunk : chunks->chunks())
    for (std::int64_t i = 0; i < chunk->length(); ++i) cells.append(cell(*chunk, i));
  return cells;
}

ArrowTable select(const ArrowTable& shown, const std::vector<std::string>& names) {
  std::vector<int> columns;
  for (const std::string& name : names) {
    const int at = shown.table->schema()->GetFieldIndex(name);
    if (at < 0) throw nb::key_error(name.c_str());
    columns.push_back(at);
  }
  return {require_value(shown.table->SelectColumns(columns), "choosing columns")};
}

/// Columns of one kind each: 't'ext, 'w'hole, 'n'umber or 'f'lag; None is an empty cell.
ArrowTable from_columns(const std::vector<std::pair<std::string, nb::list>>& columns) {
  DataTable table;
  for (const auto& [title, given] : columns) {
    DataColumn& made = table.columns.emplace_back();
    made.name = title.substr(2);
    for (const nb::handle one : given) {
      if (one.is_none()) {
        made.cells.emplace_back();
        continue;
      }
      switch (title[0]) {
        case 't': made.cells.emplace_back(nb::cast<std::string>(one)); break;
        case 'w': made.cells.emplace_back(nb::cast<std::int64_t>(one)); break;
        case 'f': made.cells.emplace_back(nb::cast<bool>(one)); break;
        default: made.cells.emplace_back(nb::cast<double>(one));
      }
    }
  }
  return {arrow_table(table)};
}

std::pair<std::optional<ArrowTable>, std::vector<std::string>> read_dataset(const std::filesystem::path& dataset,
                                                                            const std::string& table) {
  std::vector<std::string> damaged;
  const auto found = read_arrow_table(dataset, table == "layers" ? TableKind::kLayers : TableKind::kDesigns, damaged);
  if (found == nullptr) return {std::nullopt, damaged};
  return {ArrowTable{found}, damaged};
}

}  // namespace

void bind_tables(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<ArrowTable>(module, "ArrowTable")
      .def_prop_ro("rows", [](const ArrowTable& t) { return t.table->num_rows(); })
      .def_prop_ro("names", [](const ArrowTable& t) { return t.table->ColumnNames(); })
      .def("column", &column, "name"_a)
      .def("select", &select, "names"_a)
      .def(
          "slice",
          [](const ArrowTable& t, std::int64_t first, std::int64_t rows) {
            return ArrowTable{t.table->Slice(first, rows)};
          },
          "first"_a, "rows"_a)
      .def("__arrow_c_stream__", &stream_of, "requested_schema"_a = nb::none())
      .def("__arrow_c_schema__", &schema_of);
  module.def("table_from_columns", &from_columns, "columns"_a);
  module.def(
      "read_table",
      [](const std::filesystem::path& file) {
        std::vector<std::string> damaged;
        const auto found = read_arrow_table(file, TableKind::kDesigns, damaged);
        return found == nullptr ? std::nullopt : std::optional(ArrowTable{found});
      },
      "file"_a, nb::call_guard<nb::gil_scoped_release>());
  module.def("read_dataset", &read_dataset, "dataset"_a, "table"_a, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace pliant::python
