// SPDX-License-Identifier: Apache-2.0
// Files that are either there in full or not there: written under a temporary name, flushed to the disk, renamed.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace pliant {

/// The disk refused: full, no permission, a file that is not what it should be.
class StorageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A name beside `target` that readers of a dataset ignore (it starts with a dot), different in every process.
std::filesystem::path temporary_name(const std::filesystem::path& target);

/// Flushes the temporary file, gives it its name and flushes the folder. StorageError, the temporary file removed, when
/// any of it fails.
void put_in_place(const std::filesystem::path& temporary, const std::filesystem::path& target);

/// The whole file. StorageError when it cannot be read.
std::string file_bytes(const std::filesystem::path& file);

void write_atomically(const std::filesystem::path& target, std::string_view text);

/// Creates a folder and those above it.
void make_folder(const std::filesystem::path& folder);

/// Removes temporary files that a killed process left in a folder. Those of running processes stay.
void remove_leftovers(const std::filesystem::path& folder);

}  // namespace pliant
