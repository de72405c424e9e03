// SPDX-License-Identifier: Apache-2.0
// Wherever a command takes an accelerator or a workload, a file of another tool may be named: these functions read our
// own formats and the others alike. What has no counterpart here is an error; `pliant import --lenient` leaves it out.
#pragma once

#include <string_view>
#include <vector>

#include "core/input/load.h"

namespace pliant {

/// As load_accelerator, also for a file of another tool.
Accelerator open_accelerator(const Library& library, std::string_view name_or_path,
                             const std::vector<Setting>& settings = {});
/// As the constructor from a name, also for a file of another tool.
AcceleratorTemplate open_accelerator_template(const Library& library, std::string_view name_or_path);
/// As load_workload, also for a file of another tool. After the name of a model's configuration stands what to do with
/// it: `config.json:prefill=4096`, `config.json:decode=32768,batch=8`.
Workload open_workload(const Library& library, std::string_view name_or_path);

}  // namespace pliant
