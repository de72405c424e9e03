// SPDX-License-Identifier: Apache-2.0
#include "dse/results/parquet_file.h"

#include <arrow/buffer.h>
#include <arrow/io/file.h>
#include <arrow/io/memory.h>
#include <arrow/type.h>
#include <arrow/util/compression.h>
#include <arrow/util/config.h>
#include <fmt/format.h>
#include <parquet/arrow/writer.h>
#include <parquet/exception.h>

#include <algorithm>

#include "dse/results/arrow_status.h"
#include "dse/results/object_storage.h"
#include "dse/results/stored_files.h"

namespace pliant {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kRowGroup = 64 * 1024;

/// Real numbers hardly repeat: a dictionary of them takes time and room. Nobody skips pages by what is inside a
/// structured column, so those go without least and greatest values.
void choose_encoding(const std::string& path, const arrow::DataType& type, bool inside,
                     parquet::WriterProperties::Builder& builder) {
  if (type.id() == arrow::Type::LIST) {
    choose_encoding(path + ".list.element", *type.field(0)->type(), true, builder);
  } else if (type.id() == arrow::Type::STRUCT) {
    for (const auto& field : type.fields()) choose_encoding(path + "." + field->name(), *field->type(), true, builder);
  } else {
    if (type.id() == arrow::Type::DOUBLE) builder.disable_dictionary(path);
    if (inside) builder.disable_statistics(path);
  }
}

}  // namespace

std::shared_ptr<parquet::WriterProperties> writer_properties(const arrow::Schema& schema) {
  parquet::WriterProperties::Builder builder;
  for (const auto codec : {parquet::Compression::ZSTD, parquet::Compression::SNAPPY}) {
    if (!arrow::util::Codec::IsAvailable(codec)) continue;
    builder.compression(codec);
    break;
  }
  builder.enable_dictionary()->enable_page_checksum();
#if ARROW_VERSION_MAJOR >= 19
  // Histograms of nesting levels serve nobody here.
  builder.set_size_statistics_level(parquet::SizeStatisticsLevel::None);
#endif
  for (const auto& field : schema.fields()) choose_encoding(field->name(), *field->type(), false, builder);
  return builder.build();
}

std::string parquet_bytes(const arrow::Table& table) {
  const std::string doing = "building a Parquet file";
  try {
    auto out = require_value(arrow::io::BufferOutputStream::Create(), doing);
    // The file holds the Arrow schema too, so that units and meanings come back with the columns.
    const auto arrow_properties = parquet::ArrowWriterProperties::Builder().store_schema()->build();
    require_ok(parquet::arrow::WriteTable(table, arrow::default_memory_pool(), out, kRowGroup,
                                          writer_properties(*table.schema()), arrow_properties),
               doing);
    return require_value(out->Finish(), doing)->ToString();
  } catch (const parquet::ParquetException& error) {
    throw StorageError(fmt::format("{}: {}", doing, error.what()));
  }
}

namespace {

/// What Parquet finds wrong comes as a status, as one of its exceptions, or as one of the library's below it.
template <class Read>
auto reading(const fs::path& file, const Read& read) {
  const std::string doing = fmt::format("{}: cannot read it", file.string());
  try {
    return read(doing);
  } catch (const StorageError&) {
    throw;
  } catch (const std::exception& error) {
    throw StorageError(fmt::format("{}: {}", doing, error.what()));
  }
}

std::unique_ptr<parquet::arrow::FileReader> open_source(std::shared_ptr<arrow::io::RandomAccessFile> in,
                                                        const std::string& doing) {
  parquet::ReaderProperties properties = parquet::default_reader_properties();
  properties.set_page_checksum_verification(true);
  parquet::arrow::FileReaderBuilder builder;
  require_ok(builder.Open(std::move(in), properties), doing);
  std::unique_ptr<parquet::arrow::FileReader> reader;
  require_ok(builder.Build(&reader), doing);
  return reader;
}

}  // namespace

std::unique_ptr<parquet::arrow::FileReader> open_parquet(const fs::path& file) {
  return reading(file, [&](const std::string& doing) {
    if (is_address(file)) return open_source(object_storage::open(file), doing);
    return open_source(require_value(arrow::io::ReadableFile::Open(file.string()), doing), doing);
  });
}

std::unique_ptr<parquet::arrow::FileReader> open_parquet(std::string bytes, const fs::path& file) {
  return reading(file, [&](const std::string& doing) {
    return open_source(std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(std::move(bytes))), doing);
  });
}

std::shared_ptr<arrow::Table> read_parquet(parquet::arrow::FileReader& reader, const std::vector<std::string>& columns,
                                           const fs::path& file) {
  return reading(file, [&](const std::string& doing) {
    std::shared_ptr<arrow::Table> table;
    if (columns.empty()) {
      require_ok(reader.ReadTable(&table), doing);
    } else {
      // Leaves of the wanted top-level columns.
      std::vector<int> leaves;
      const auto& schema = *reader.parquet_reader()->metadata()->schema();
      for (int i = 0; i < schema.num_columns(); ++i) {
        const std::string root = schema.GetColumnRoot(i)->name();
        if (std::ranges::find(columns, root) != columns.end()) leaves.push_back(i);
      }
      require_ok(reader.ReadTable(leaves, &table), doing);
    }
    return table;
  });
}

}  // namespace pliant
