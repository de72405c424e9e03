// SPDX-License-Identifier: Apache-2.0
// The keys `vector` and `links` of accelerator files.
#pragma once

#include <string_view>
#include <vector>

#include "core/input/cursor.h"
#include "core/input/library.h"
#include "core/input/settings.h"
#include "core/machine_parts.h"

namespace pliant {

/// Of the root of an accelerator file.
MachineParts read_machine_parts(const Cursor& root);
/// Of one block; nothing after noting a problem.
std::optional<VectorUnit> read_vector_unit(const Cursor& block);
std::optional<Links> read_links(const Cursor& block);

/// What no setting can change: the files say numbers, and these settings leave them as they are. nullopt otherwise.
std::optional<MachineParts> fixed_machine_parts(const Library& library, std::string_view name_or_path,
                                                const std::vector<Setting>& settings);
/// Of a shipped accelerator or a file of ours; nothing of a file of another tool.
MachineParts load_machine_parts(const Library& library, std::string_view name_or_path,
                                const std::vector<Setting>& settings);

/// As an option says it: "{lanes: 512}". InputError that names the option.
VectorUnit parse_vector_unit(std::string_view text, std::string_view option);
Links parse_links(std::string_view text, std::string_view option);

}  // namespace pliant
