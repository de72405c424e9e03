// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

namespace pliant {

// Where the shipped accelerators, workloads and sweeps are: $PLIANT_CONFIGS if it is set, else relative to the running
// program, as it lies in the build tree or as it is installed. Nothing if there is no such folder.
std::optional<std::filesystem::path> shipped_configs();

// The same for a program in `program_dir` and a value of PLIANT_CONFIGS (null: not set).
std::optional<std::filesystem::path> shipped_configs(const std::filesystem::path& program_dir, const char* from_env);

}  // namespace pliant
