// SPDX-License-Identifier: Apache-2.0
#include "dse/results/leaf_file.h"

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/writer.h>
#include <arrow/util/base64.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>
#include <parquet/arrow/schema.h>
#include <parquet/column_page.h>
#include <parquet/column_writer.h>
#include <parquet/exception.h>
#include <parquet/file_writer.h>
#include <parquet/metadata.h>
#include <parquet/statistics.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "dse/results/arrow_status.h"
#include "dse/results/leaf_encoding.h"
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

constexpr std::string_view kMagic = "PAR1";

/// Levels in a page come after their length.
std::string packed_levels(const std::vector<std::int16_t>& levels, int greatest) {
  std::string packed(sizeof(std::uint32_t), '\0');
  append_runs(levels, bits_for(static_cast<std::uint32_t>(greatest)), packed);
  const auto length = static_cast<std::uint32_t>(packed.size() - sizeof(std::uint32_t));
  std::memcpy(packed.data(), &length, sizeof length);
  return packed;
}

/// Least and greatest value, where somebody wants them.
template <class Type, class Value>
void update(parquet::TypedStatistics<Type>* statistics, std::span<const Value> values) {
  if (statistics == nullptr) return;
  const auto count = static_cast<std::int64_t>(values.size());
  if constexpr (std::is_same_v<Value, typename Type::c_type>) {
    statistics->Update(values.data(), count, 0);
  } else {
    const std::vector<typename Type::c_type> converted(values.begin(), values.end());
    statistics->Update(converted.data(), count, 0);
  }
}

/// Real numbers hardly repeat.
template <class Value>
constexpr bool kMayRepeat = !std::is_same_v<Value, double> && !std::is_same_v<Value, bool>;

}  // namespace

struct LeafFile::Parts {
  std::shared_ptr<parquet::WriterProperties> properties;
  std::shared_ptr<parquet::SchemaDescriptor> columns;
  std::shared_ptr<const arrow::KeyValueMetadata> metadata;
  std::shared_ptr<arrow::io::BufferOutputStream> out;
  std::unique_ptr<parquet::FileMetaDataBuilder> file;
  parquet::RowGroupMetaDataBuilder* rows = nullptr;
  int leaf = 0;  ///< the next
  std::int64_t row_count = 0, written = 0;

  const Levels* levels = nullptr;  ///< of the leaves at hand
  std::string there, continues;    ///< the same, packed; empty until a leaf needs it
  std::string page;                ///< kept for its room

  template <class Type, class Value>
  void write(std::span<const Value> values) {
    if (there.empty()) there = packed_levels(levels->there.all(), columns->Column(leaf)->max_definition_level());
    write_leaf<Type>(values, there);
  }

  /// The same where some values are missing: the last step of their path is not there.
  template <class Type, class Value, class Missing>
  void write_some(std::span<const Value> values, Missing missing) {
    if (std::ranges::none_of(values, missing)) return write<Type>(values);
    std::vector<std::int16_t> fewer = levels->there.all();
    std::vector<Value> present;
    present.reserve(values.size());
    const int whole = columns->Column(leaf)->max_definition_level();
    auto value = values.begin();
    for (std::int16_t& path : fewer) {
      if (path < whole) continue;
      if (missing(*value))
        --path;
      else
        present.push_back(*value);
      ++value;
    }
    write_leaf<Type>(std::span<const Value>(present), packed_levels(fewer, whole));
  }

 private:
  template <class Type, class Value>
  void write_leaf(std::span<const Value> values, const std::string& packed_there) {
    guarded([&] {
      const parquet::ColumnDescriptor& column = *columns->Column(leaf);
      const int lists = column.max_repetition_level();
      if (lists > 0 && continues.empty()) continues = packed_levels(levels->continues.all(), lists);
      const parquet::ColumnProperties& how = properties->column_properties(column.path());
      parquet::ColumnChunkMetaDataBuilder& about = *rows->NextColumnChunk();
      const auto pages = parquet::PageWriter::Open(out, how.compression(), &about, 0, static_cast<std::int16_t>(leaf++),
                                                   arrow::default_memory_pool(), false, nullptr, nullptr,
                                                   properties->page_checksum_enabled());
      page.clear();
      if (lists > 0) page += continues;
      page += packed_there;
      std::shared_ptr<parquet::TypedStatistics<Type>> statistics;
      if (how.statistics_enabled()) statistics = parquet::MakeStatistics<Type>(&column);
      const bool dictionary = how.dictionary_enabled() && write_dictionary(values, *pages, statistics.get());
      if (!dictionary) {
        append_plain(values, page);
        update(statistics.get(), values);
      }
      write_page(*pages, dictionary ? parquet::Encoding::RLE_DICTIONARY : parquet::Encoding::PLAIN);
      if (statistics) {
        statistics->IncrementNullCount(static_cast<std::int64_t>(levels->there.all().size() - values.size()));
        about.SetStatistics(statistics->Encode());
      }
      pages->Close(dictionary, false);
      written += about.total_compressed_size();
    });
  }

  /// The values that differ go to the file, and into the page which of them each is; unless that does not pay.
  template <class Type, class Value>
  bool write_dictionary(std::span<const Value> values, parquet::PageWriter& pages,
                        parquet::TypedStatistics<Type>* statistics) {
    if constexpr (kMayRepeat<Value>) {
      const Distinct<Value> distinct(values);
      const std::span<const Value> own = distinct.values();
      if (2 * own.size() > values.size()) return false;
      std::string bytes;
      append_plain(own, bytes);
      pages.WriteDictionaryPage(parquet::DictionaryPage(
          std::make_shared<arrow::Buffer>(bytes), static_cast<std::int32_t>(own.size()), parquet::Encoding::PLAIN));
      const int bits = std::max(1, bits_for(static_cast<std::uint32_t>(own.size() - 1)));
      page += static_cast<char>(bits);
      append_runs(distinct.indices(), bits, page);
      update(statistics, own);
      return true;
    }
    return false;
  }

  void write_page(parquet::PageWriter& pages, parquet::Encoding::type encoding) {
    auto bytes = std::make_shared<arrow::Buffer>(page);
    if (pages.has_compressor()) {
      const std::shared_ptr<arrow::ResizableBuffer> packed = require_value(arrow::AllocateResizableBuffer(0), kDoing);
      pages.Compress(*bytes, packed.get());
      bytes = packed;
    }
    pages.WriteDataPage(parquet::DataPageV1(bytes, static_cast<std::int32_t>(levels->there.all().size()), encoding,
                                            parquet::Encoding::RLE, parquet::Encoding::RLE,
                                            static_cast<std::int64_t>(page.size())));
  }
};

LeafFile::LeafFile(const arrow::Schema& schema) : parts_(std::make_unique<Parts>()) {
  guarded([&] {
    Parts& p = *parts_;
    p.properties = writer_properties(schema);
    require_ok(parquet::arrow::ToParquetSchema(&schema, *p.properties, &p.columns), kDoing);
    p.metadata = file_metadata(schema);
    p.out = require_value(arrow::io::BufferOutputStream::Create(), kDoing);
    require_ok(p.out->Write(kMagic), kDoing);
    p.file = parquet::FileMetaDataBuilder::Make(p.columns.get(), p.properties);
    p.rows = p.file->AppendRowGroup();
  });
}

LeafFile::~LeafFile() = default;

void LeafFile::set_levels(const Levels& levels) {
  Parts& p = *parts_;
  p.levels = &levels;
  p.there.clear();
  p.continues.clear();
  if (p.leaf == 0) p.row_count = std::ranges::count(levels.continues.all(), 0);
}

void LeafFile::reals(std::span<const double> values) {
  parts_->write_some<parquet::DoubleType>(values, [](double value) { return std::isnan(value); });
}

void LeafFile::integers(std::span<const std::int64_t> values) { parts_->write<parquet::Int64Type>(values); }

void LeafFile::truths(std::span<const std::uint8_t> values) {
  static_assert(sizeof(bool) == sizeof(std::uint8_t));
  parts_->write<parquet::BooleanType>(
      std::span<const bool>(reinterpret_cast<const bool*>(values.data()), values.size()));
}

void LeafFile::texts(std::span<const std::string_view> values) { parts_->write<parquet::ByteArrayType>(values); }

void LeafFile::optional_texts(std::span<const std::string_view> values) {
  parts_->write_some<parquet::ByteArrayType>(values, [](std::string_view value) { return value.empty(); });
}

std::string LeafFile::finish() {
  return guarded([&] {
    Parts& p = *parts_;
    p.rows->set_num_rows(p.row_count);
    p.rows->Finish(p.written, 0);
    parquet::WriteFileMetaData(*p.file->Finish(p.metadata), p.out.get());
    return require_value(p.out->Finish(), kDoing)->ToString();
  });
}

}  // namespace pliant
