// SPDX-License-Identifier: Apache-2.0
// Inputs together with the words they were read from, so that a result can say what it is about and an accelerator can
// be read again with other settings.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/input/load.h"
#include "dse/answers/task_options.h"
#include "dse/sweep/run_sweep.h"

namespace pliant::python {

/// The shipped files: $PLIANT_CONFIGS, else those that came with the package.
const Library& library();

/// Every Nth part, from I on; InputError when there is no such.
Shard shard_of(std::pair<int, int> given);

/// What stands for the file in diagnostics of an input that came as a dict.
inline constexpr const char* kInMemory = "<dict>";

struct LoadedAccelerator {
  std::string source;      ///< a name, a path, or a whole file
  bool in_memory = false;  ///< `source` is a whole file
  std::vector<Setting> settings;
  std::optional<std::string> flexibility, conventions;
  Accelerator accelerator;
};

struct LoadedLayer {
  Layer layer;
  std::optional<std::string> text, workload;  ///< as --layer and --workload take them; no text: from memory
};

struct LoadedWorkload {
  std::string source;
  bool in_memory = false;
  Workload workload;
};

/// The words of the command line that name the accelerator, which must not have come from memory.
TaskWords words_of(const LoadedAccelerator& accelerator);
/// The words of the command line that ask for the same; nothing when an input came from memory.
std::optional<TaskWords> words_of(const LoadedLayer& layer, const LoadedAccelerator& accelerator);

}  // namespace pliant::python
