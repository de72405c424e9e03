// SPDX-License-Identifier: Apache-2.0
// A Parquet file as whoever reads it should take it: as untrusted input. A part of a dataset must have the bytes that
// its checksum says; where there is no checksum, what the file says of itself must agree with its place. Kind, columns,
// types and every array are checked before anybody looks at a value, so readers may rely on them.
#pragma once

#include <arrow/table.h>
#include <arrow/type.h>
#include <parquet/arrow/reader.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace pliant {

class CheckedFile {
 public:
  /// StorageError, which begins with the file, when it cannot be read or is not what it should be.
  explicit CheckedFile(const std::filesystem::path& file);

  const arrow::Schema& schema() const { return *schema_; }
  /// The named top-level columns, all when none is named. StorageError when they are damaged, when a part lacks one of
  /// them, or when a part has rows without what names them.
  std::shared_ptr<arrow::Table> read(const std::vector<std::string>& columns) const;

 private:
  std::filesystem::path file_;
  bool part_ = false;  ///< a part of a dataset, not a table by itself
  std::unique_ptr<parquet::arrow::FileReader> reader_;
  std::shared_ptr<arrow::Schema> schema_;
};

}  // namespace pliant
