// SPDX-License-Identifier: Apache-2.0
#include "dse/results/stored_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "dse/results/atomic_file.h"
#include "dse/results/object_storage.h"

namespace pliant {

namespace fs = std::filesystem;

bool is_address(const fs::path& path) {
  const std::string& text = path.native();
  return text.starts_with("s3:/") || text.starts_with("gs:/");
}

fs::path extension_of(const fs::path& path) {
  if (!is_address(path)) return path.extension();
  const std::string name = path.filename().string();
  return fs::path(name.substr(0, name.find('?'))).extension();
}

bool is_there(const fs::path& path) {
  if (is_address(path)) return object_storage::exists(path);
  std::error_code error;
  return fs::exists(path, error);
}

std::vector<StoredFile> files_in(const fs::path& folder) {
  std::vector<StoredFile> files;
  std::error_code error;
  if (is_address(folder))
    files = object_storage::list(folder);
  else
    for (const auto& entry : fs::directory_iterator(folder, error))
      if (entry.is_regular_file(error)) files.push_back({entry.path(), entry.file_size(error)});
  std::ranges::sort(files, {}, &StoredFile::path);
  return files;
}

void remove_file(const fs::path& file) {
  if (is_address(file)) return object_storage::remove(file);
  std::error_code error;
  fs::remove(file, error);
  if (error) throw StorageError(fmt::format("{}: cannot remove it: {}", file.string(), error.message()));
}

}  // namespace pliant
