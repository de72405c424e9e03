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

}  // namespace

struct LeafFile::Parts {
  std::shared_ptr<arrow::io::BufferOutputStream> out;
  std::unique_ptr<parquet::ParquetFileWriter> file;
  parquet::RowGroupWriter* rows = nullptr;

  template <class Type>
  void write(const Levels& levels, const typename Type::c_type* values) {
    guarded([&] {
      auto& column = static_cast<parquet::TypedColumnWriter<Type>&>(*rows->NextColumn());
      column.WriteBatch(static_cast<std::int64_t>(levels.there.size()), levels.there.data(), levels.continues.data(),
                        values);
      column.Close();
    });
  }

  /// The same where some values are missing: the last step of their path is not there.
  template <class Type, class Values, class Missing>
  void write_some(const Levels& levels, const Values& values, Missing missing) {
    if (std::ranges::none_of(values, missing)) return write<Type>(levels, values.data());
    Levels fewer = levels;
    Values present;
    present.reserve(values.size());
    const std::int16_t whole = *std::ranges::max_element(levels.there);
    auto value = values.begin();
    for (std::int16_t& path : fewer.there) {
      if (path < whole) continue;
      if (missing(*value))
        --path;
      else
        present.push_back(*value);
      ++value;
    }
    write<Type>(fewer, present.data());
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

void LeafFile::reals(const Levels& levels, const std::vector<double>& values) {
  parts_->write_some<parquet::DoubleType>(levels, values, [](double value) { return std::isnan(value); });
}

void LeafFile::integers(const Levels& levels, const std::vector<std::int64_t>& values) {
  parts_->write<parquet::Int64Type>(levels, values.data());
}

void LeafFile::truths(const Levels& levels, const std::vector<std::uint8_t>& values) {
  static_assert(sizeof(bool) == sizeof(std::uint8_t));
  parts_->write<parquet::BooleanType>(levels, reinterpret_cast<const bool*>(values.data()));
}

namespace {

std::vector<parquet::ByteArray> byte_arrays(const std::vector<std::string_view>& values) {
  std::vector<parquet::ByteArray> all;
  all.reserve(values.size());
  for (const std::string_view value : values) all.emplace_back(value);
  return all;
}

}  // namespace

void LeafFile::texts(const Levels& levels, const std::vector<std::string_view>& values) {
  parts_->write<parquet::ByteArrayType>(levels, byte_arrays(values).data());
}

void LeafFile::optional_texts(const Levels& levels, const std::vector<std::string_view>& values) {
  parts_->write_some<parquet::ByteArrayType>(levels, byte_arrays(values),
                                             [](const parquet::ByteArray& value) { return value.len == 0; });
}

std::string LeafFile::finish() {
  return guarded([&] {
    parts_->file->Close();
    const auto bytes = require_value(parts_->out->Finish(), kDoing);
    return bytes->ToString();
  });
}

}  // namespace pliant
