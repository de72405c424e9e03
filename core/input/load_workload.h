// SPDX-License-Identifier: Apache-2.0
// Workload files: YAML or CSV.
#pragma once

#include <string_view>

#include "core/input/library.h"
#include "core/layer.h"

namespace pliant {

Workload load_workload(const Library& library, std::string_view name_or_path);
/// From memory: `name` stands for the file in diagnostics.
Workload parse_workload_text(std::string_view text, std::string_view name);  ///< YAML or CSV, by content

}  // namespace pliant
