// SPDX-License-Identifier: Apache-2.0
// Files on a disk or in object storage: what is there, and what is to go. atomic_file.h reads and writes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace pliant {

/// s3://bucket/folder or gs://bucket/folder; with one slash as well, because paths that are joined lose the other.
/// After the folder Arrow's options may stand: s3://bucket/folder?endpoint_override=host:9000&scheme=http.
bool is_address(const std::filesystem::path& path);
/// ".csv": without what stands behind the name in an address.
std::filesystem::path extension_of(const std::filesystem::path& path);

/// A file or a folder; of object storage, an object or anything below.
bool is_there(const std::filesystem::path& path);

struct StoredFile {
  std::filesystem::path path;
  std::uintmax_t bytes = 0;
};
/// The files of a folder, by name; none when there is no such folder.
std::vector<StoredFile> files_in(const std::filesystem::path& folder);

/// One that is not there is no mistake.
void remove_file(const std::filesystem::path& file);

}  // namespace pliant
