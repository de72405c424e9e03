// SPDX-License-Identifier: Apache-2.0
#include "dse/results/leaf_file.h"

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/writer.h>
#include <arrow/util/base64.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>
#include <parquet/arrow/schema.h>
#include <parquet/column_writer.h>
#include <parquet/exception.h>
#include <parquet/file_writer.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "dse/results/arrow_status.h"
#include "dse/results/parquet_file.h"

namespace pliant {
namespace {

constexpr const char* kDoing = "building a Parquet file";

/// As Parquet reports what goes wrong.
template <class Work>
auto guarded(Work work) {
  try {
    return work();
  } catch (const parquet::ParquetException& error) {
    throw StorageError(fmt::format("{}: {}", kDoing, error.what()));
  }
}

/// The Arrow schema goes along, as Arrow's own writer keeps it: units and meanings come back with the columns.
std::shared_ptr<const arrow::KeyValueMetadata> file_metadata(const arrow::Schema& schema) {
  auto metadata = schema.metadata() ? schema.metadata()->Copy() : std::make_shared<arrow::KeyValueMetadata>();
  const auto bytes = require_value(arrow::ipc::SerializeSchema(schema), kDoing);
  metadata->Append("ARROW:schema", arrow::util::base64_encode(std::string_view(*bytes)));
  return metadata;
}

/// The name of a leaf: its path without the steps that Parquet adds to lists.
std::string name_of(const parquet::ColumnDescriptor& column) {
  const std::shared_ptr<parquet::schema::ColumnPath> path = column.path();
  std::string name;
  for (const std::string& step : path->ToDotVector())
    if (step != "list" && step != "element" && step != "item") name += (name.empty() ? "" : ".") + step;
  return name;
}

std::vector<parquet::ByteArray> byte_arrays(std::span<const std::string_view> values) {
  return {values.begin(), values.end()};
}

}  // namespace

struct LeafFile::Parts {
  std::shared_ptr<arrow::io::BufferOutputStream> out;
  std::unique_ptr<parquet::ParquetFileWriter> file;
  parquet::RowGroupWriter* rows = nullptr;

  template <class Type>
  void write(std::string_view leaf, const Levels& levels, const typename Type::c_type* values) {
    write<Type>(leaf, levels.there.all(), levels.continues.all(), values);
  }

  /// The same where some values are missing: the last step of their path is not there.
  template <class Type, class Missing>
  void write_some(std::string_view leaf, const Levels& levels, std::span<const typename Type::c_type> values,
                  Missing missing) {
    if (std::ranges::none_of(values, missing)) return write<Type>(leaf, levels, values.data());
    std::vector<std::int16_t> there = levels.there.all();
    std::vector<typename Type::c_type> present;
    present.reserve(values.size());
    const std::int16_t whole = *std::ranges::max_element(there);
    auto value = values.begin();
    for (std::int16_t& path : there) {
      if (path < whole) continue;
      if (missing(*value))
        --path;
      else
        present.push_back(*value);
      ++value;
    }
    write<Type>(leaf, there, levels.continues.all(), present.data());
  }

 private:
  template <class Type>
  void write(std::string_view leaf, const std::vector<std::int16_t>& there, const std::vector<std::int16_t>& continues,
             const typename Type::c_type* values) {
    guarded([&] {
      auto& column = static_cast<parquet::TypedColumnWriter<Type>&>(*rows->NextColumn());
      if (const std::string name = name_of(*column.descr()); name != leaf)
        throw std::logic_error(fmt::format("the schema has {} where {} is written", name, leaf));
      column.WriteBatch(static_cast<std::int64_t>(there.size()), there.data(), continues.data(), values);
      column.Close();
    });
  }
};

LeafFile::LeafFile(const arrow::Schema& schema) : parts_(std::make_unique<Parts>()) {
  guarded([&] {
    const auto properties = writer_properties(schema);
    std::shared_ptr<parquet::SchemaDescriptor> columns;
    require_ok(parquet::arrow::ToParquetSchema(&schema, *properties, &columns), kDoing);
    parts_->out = require_value(arrow::io::BufferOutputStream::Create(), kDoing);
    parts_->file = parquet::ParquetFileWriter::Open(
        parts_->out, std::static_pointer_cast<parquet::schema::GroupNode>(columns->schema_root()), properties,
        file_metadata(schema));
    parts_->rows = parts_->file->AppendRowGroup();
  });
}

LeafFile::~LeafFile() = default;

void LeafFile::reals(std::string_view leaf, std::span<const double> values) {
  parts_->write_some<parquet::DoubleType>(leaf, *levels_, values, [](double value) { return std::isnan(value); });
}

void LeafFile::integers(std::string_view leaf, std::span<const std::int64_t> values) {
  parts_->write<parquet::Int64Type>(leaf, *levels_, values.data());
}

void LeafFile::truths(std::string_view leaf, std::span<const std::uint8_t> values) {
  static_assert(sizeof(bool) == sizeof(std::uint8_t));
  parts_->write<parquet::BooleanType>(leaf, *levels_, reinterpret_cast<const bool*>(values.data()));
}

void LeafFile::texts(std::string_view leaf, std::span<const std::string_view> values) {
  parts_->write<parquet::ByteArrayType>(leaf, *levels_, byte_arrays(values).data());
}

void LeafFile::optional_texts(std::string_view leaf, std::span<const std::string_view> values) {
  parts_->write_some<parquet::ByteArrayType>(leaf, *levels_, byte_arrays(values),
                                             [](const parquet::ByteArray& value) { return value.len == 0; });
}

std::string LeafFile::finish() {
  return guarded([&] {
    parts_->file->Close();
    return require_value(parts_->out->Finish(), kDoing)->ToString();
  });
}

}  // namespace pliant
