// SPDX-License-Identifier: Apache-2.0
// Files in object storage, named by addresses such as s3://bucket/folder/file, through Arrow's file systems. An object
// is there whole or not at all, as files are that are put in place. Everybody else uses atomic_file.h and
// stored_files.h.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dse/results/stored_files.h"

namespace arrow::io {
class RandomAccessFile;
}

namespace pliant::object_storage {

/// All of these: StorageError when the server cannot be reached or refuses.
bool exists(const std::filesystem::path& address);  ///< an object, or a folder with any
std::string read(const std::filesystem::path& address);
std::shared_ptr<arrow::io::RandomAccessFile> open(const std::filesystem::path& address);  ///< to read parts of it
void write(const std::filesystem::path& address, std::string_view bytes);
void remove(const std::filesystem::path& address);  ///< one that is not there is no mistake
std::vector<StoredFile> list(const std::filesystem::path& folder);

}  // namespace pliant::object_storage
