// SPDX-License-Identifier: Apache-2.0
// The shipped files by name.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pliant {

/// Where shipped files live, so that `eyeriss` or `resnet50` resolve without a path.
class Library {
 public:
  explicit Library(std::filesystem::path configs) : configs_(std::move(configs)) {}
  const std::filesystem::path& configs() const { return configs_; }
  std::vector<std::string> accelerator_names() const;
  std::vector<std::string> workload_names() const;
  std::vector<std::string> flexibility_names() const;
  std::vector<std::string> technology_names() const;
  /// A path when it exists as written, else the shipped file of that name; InputError with near names otherwise.
  std::filesystem::path find_accelerator(std::string_view name_or_path) const;
  std::filesystem::path find_workload(std::string_view name_or_path) const;
  std::filesystem::path find_flexibility(std::string_view name_or_path) const;

 private:
  std::filesystem::path configs_;
};

}  // namespace pliant
