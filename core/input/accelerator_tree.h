// SPDX-License-Identifier: Apache-2.0
// From an accelerator file to one tree of values: includes merged, `--set` applied, parameters put in place.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "core/input/library.h"
#include "core/input/settings.h"
#include "core/input/yaml_node.h"

namespace pliant {

/// The tree after each stage: the innermost included file first, then every file that includes it, then the settings.
/// Earlier stages are kept because an energy is worth what it says at the capacity of the stage that wrote it.
struct AcceleratorTree {
  std::vector<YamlNode> stages;  ///< at least one; the last is the accelerator asked for
};

/// The stages of the files alone. `directory` is where relative includes are looked for.
AcceleratorTree read_accelerator_files(const Library& library, std::string_view text, std::string_view file,
                                       const std::filesystem::path& directory, Diagnostics& problems);

/// The stages of the files with the settings as one more, parameters put in place.
AcceleratorTree complete_accelerator_tree(AcceleratorTree tree, std::string_view file,
                                          const std::vector<Setting>& settings, Diagnostics& problems);

}  // namespace pliant
