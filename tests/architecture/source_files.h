// SPDX-License-Identifier: Apache-2.0
// The files of the repository as the checks see them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace pliant::test {

struct SourceFile {
  std::string path;  ///< relative to the repository
  std::vector<std::string> lines;
};

inline std::vector<std::string> read_lines(const std::filesystem::path& file) {
  std::vector<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// All files under these folders that end in one of the endings, sorted by path.
inline std::vector<SourceFile> files_under(std::initializer_list<std::string_view> folders,
                                           std::initializer_list<std::string_view> endings) {
  namespace fs = std::filesystem;
  const fs::path root = PLIANT_SOURCE_DIR;
  std::vector<SourceFile> found;
  for (const std::string_view folder : folders) {
    if (!fs::exists(root / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string name = entry.path().filename().string();
      if (!entry.is_regular_file()) continue;
      if (std::ranges::none_of(endings, [&](std::string_view ending) { return name.ends_with(ending); })) continue;
      found.push_back({fs::relative(entry.path(), root).generic_string(), read_lines(entry.path())});
    }
  }
  std::ranges::sort(found, {}, &SourceFile::path);
  return found;
}

/// The rooms of the library and the command line.
inline const std::vector<SourceFile>& library_sources() {
  static const std::vector<SourceFile> all = files_under({"core", "flex", "costmodel", "dse"}, {".h", ".cpp"});
  return all;
}

}  // namespace pliant::test
