// SPDX-License-Identifier: Apache-2.0
// Parquet files: dictionary-encoded, compressed with zstd, every page with a checksum.
#pragma once

#include <arrow/table.h>
#include <parquet/arrow/reader.h>
#include <parquet/properties.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace pliant {

/// How the columns of a file are encoded.
std::shared_ptr<parquet::WriterProperties> writer_properties(const arrow::Schema& schema);

/// The whole file; equal tables give equal bytes.
std::string parquet_bytes(const arrow::Table& table);

/// StorageError when it is no Parquet file. Readers of results open files with CheckedFile.
std::unique_ptr<parquet::arrow::FileReader> open_parquet(const std::filesystem::path& file);
/// The same of bytes that were read from `file`.
std::unique_ptr<parquet::arrow::FileReader> open_parquet(std::string bytes, const std::filesystem::path& file);

/// The named top-level columns (all when none is named), checked against their checksums. StorageError when damaged.
std::shared_ptr<arrow::Table> read_parquet(parquet::arrow::FileReader& reader, const std::vector<std::string>& columns,
                                           const std::filesystem::path& file);

}  // namespace pliant
