// SPDX-License-Identifier: Apache-2.0
#include "core/input/library.h"

#include <fmt/format.h>

#include <set>
#include <system_error>

#include "core/input/diagnostics.h"
#include "core/input/one_of.h"
#include "core/input/source_text.h"

namespace pliant {
namespace {

std::vector<std::string> stems(const std::filesystem::path& folder) {
  std::set<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".yaml" || extension == ".csv") names.insert(entry.path().stem().string());
  }
  return {names.begin(), names.end()};
}

std::filesystem::path find(const std::filesystem::path& folder, std::string_view what, std::string_view name_or_path) {
  std::error_code error;
  const std::filesystem::path as_written(name_or_path);
  if (std::filesystem::is_regular_file(as_written, error)) return as_written;
  if (std::filesystem::is_directory(as_written, error))
    throw InputError(
        Diagnostic{std::string(name_or_path), 0, 0, "", "is a folder", fmt::format("a file of one {}", what), ""});
  const bool plain = name_or_path.find_first_of("/\\") == std::string_view::npos && !name_or_path.empty();
  if (plain) {
    for (const std::string_view extension : {".yaml", ".csv"}) {
      std::filesystem::path shipped = folder / (std::string(name_or_path) + std::string(extension));
      if (std::filesystem::is_regular_file(shipped, error)) return shipped;
    }
  }
  const std::vector<std::string> known = stems(folder);
  std::string expected = "a file";
  if (!known.empty()) expected += " or " + one_of(name_or_path, known);
  throw InputError(Diagnostic{std::string(name_or_path), 0, 0, "",
                              fmt::format("no {} of this name and no such file", what), expected,
                              plain ? nearest(name_or_path, known) : ""});
}

}  // namespace

std::vector<std::string> Library::accelerator_names() const { return stems(configs_ / "accelerators"); }
std::vector<std::string> Library::workload_names() const { return stems(configs_ / "workloads"); }
std::vector<std::string> Library::flexibility_names() const { return stems(configs_ / "flexibility"); }
std::vector<std::string> Library::technology_names() const { return stems(configs_ / "technology"); }

std::filesystem::path Library::find_accelerator(std::string_view name_or_path) const {
  return find(configs_ / "accelerators", "accelerator", name_or_path);
}
std::filesystem::path Library::find_workload(std::string_view name_or_path) const {
  return find(configs_ / "workloads", "workload", name_or_path);
}
std::filesystem::path Library::find_flexibility(std::string_view name_or_path) const {
  return find(configs_ / "flexibility", "flexibility", name_or_path);
}

}  // namespace pliant
