// SPDX-License-Identifier: Apache-2.0
// Reading and writing the input files. Every problem is an InputError with positions; docs/formats.md is the reference.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/accelerator.h"
#include "core/input/diagnostics.h"
#include "core/input/technology.h"
#include "core/input/yaml_node.h"
#include "core/layer.h"
#include "core/mapping.h"

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

/// Readers keep every product of sizes below this, so sums and small multiples of counts fit as well.
inline constexpr Count kMaxCount = Count{1} << 62;

/// One `--set KEY=VALUE`.
using Setting = std::pair<std::string, std::string>;
/// Splits "KEY=VALUE"; InputError when there is no `=` or no key.
Setting parse_setting(std::string_view text);

/// An accelerator file that is read once and set many times. Not for several threads at once.
class AcceleratorTemplate {
 public:
  AcceleratorTemplate(const Library& library, std::string_view name_or_path);
  /// From memory: `name` stands for the file in diagnostics.
  AcceleratorTemplate(const Library& library, std::string_view text, std::string_view name);
  AcceleratorTemplate(AcceleratorTemplate&&) noexcept;
  ~AcceleratorTemplate();
  Accelerator with(const std::vector<Setting>& settings);
  /// Names and values of its `parameters:` once it is set; an empty map when it has none.
  YamlNode parameters(const std::vector<Setting>& settings) const;

 private:
  struct Read;
  std::unique_ptr<Read> read_;
};

Accelerator load_accelerator(const Library& library, std::string_view name_or_path,
                             const std::vector<Setting>& settings = {});
/// The accelerator with the rules of a flexibility file instead of its own.
Accelerator load_flexibility(const Library& library, std::string_view name_or_path, Accelerator accelerator);
/// What --flexibility accepts: a class such as PartFlex-1011, a shipped flexibility's name, or a file.
Accelerator choose_flexibility(const Library& library, std::string_view class_or_file, Accelerator accelerator);
Technology load_technology(const Library& library, std::string_view name);
Workload load_workload(const Library& library, std::string_view name_or_path);
Layer load_layer(const std::filesystem::path& file);
/// `conv:M=64,...`, `gemm:...`, `depthwise:...`; source is named in diagnostics ("--layer").
Layer parse_layer(std::string_view text, std::string_view source);
/// What --layer accepts: a layer's name in the workload (when given), a file, or a layer written in place.
Layer resolve_layer(std::string_view text, const Workload* workload);

struct MappingFile {
  Mapping mapping;
  Factorization factorization = Factorization::kPerfect;
};
MappingFile load_mapping(const std::filesystem::path& file, const Layer& layer, const Accelerator& accelerator);

std::string write_accelerator(const Accelerator& accelerator);
std::string write_flexibility(const Accelerator& accelerator);
std::string write_workload(const Workload& workload);
std::string write_layer(const Layer& layer);
std::string write_mapping(const Layer& layer, const Accelerator& accelerator, const Mapping& mapping,
                          Factorization factorization);

/// Parse from memory (tests, fuzzing): `name` stands for the file in diagnostics.
Accelerator parse_accelerator_text(const Library& library, std::string_view text, std::string_view name,
                                   const std::vector<Setting>& settings = {});
Accelerator parse_flexibility_text(std::string_view text, std::string_view name, Accelerator accelerator);
Workload parse_workload_text(std::string_view text, std::string_view name);  ///< YAML or CSV, by content
Layer parse_layer_text(std::string_view text, std::string_view name);
MappingFile parse_mapping_text(std::string_view text, std::string_view name, const Layer& layer,
                               const Accelerator& accelerator);

}  // namespace pliant
