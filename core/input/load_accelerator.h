// SPDX-License-Identifier: Apache-2.0
// Accelerator files: includes, parameters and settings resolved, everything checked.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/accelerator.h"
#include "core/input/library.h"
#include "core/input/settings.h"
#include "core/input/yaml_node.h"

namespace pliant {

/// An accelerator file that is read once and set many times. Not for several threads at once.
class AcceleratorTemplate {
 public:
  AcceleratorTemplate(const Library& library, std::string_view name_or_path);
  /// From memory: `name` stands for the file in diagnostics.
  AcceleratorTemplate(const Library& library, std::string_view text, std::string_view name);
  AcceleratorTemplate(AcceleratorTemplate&&) noexcept;
  ~AcceleratorTemplate();
  Accelerator with(const std::vector<Setting>& settings);
  /// Levels, clock and areas alone: what its flexibility says, and whether that fits the sizes, is not read.
  Accelerator sizes_with(const std::vector<Setting>& settings);
  /// Positions of the levels that one more setting may change; nullopt when it may change all of them.
  std::optional<std::vector<std::size_t>> levels_reached(const std::vector<Setting>& settings,
                                                         const Setting& more) const;
  /// Names and values of its `parameters:` once it is set; an empty map when it has none.
  YamlNode parameters(const std::vector<Setting>& settings) const;

 private:
  struct Read;
  std::unique_ptr<Read> read_;
};

Accelerator load_accelerator(const Library& library, std::string_view name_or_path,
                             const std::vector<Setting>& settings = {});
/// From memory: `name` stands for the file in diagnostics.
Accelerator parse_accelerator_text(const Library& library, std::string_view text, std::string_view name,
                                   const std::vector<Setting>& settings = {});

}  // namespace pliant
