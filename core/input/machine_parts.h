// SPDX-License-Identifier: Apache-2.0
// The keys `vector` and `links` of accelerator files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/input/cursor.h"
#include "core/machine_parts.h"

namespace pliant {

/// Of one block of a file; nothing after noting a problem.
std::optional<VectorUnit> read_vector_unit(const Cursor& block);
std::optional<Links> read_links(const Cursor& block);

/// As an option says it: "{lanes: 512}". InputError that names the option.
VectorUnit parse_vector_unit(std::string_view text, std::string_view option);
Links parse_links(std::string_view text, std::string_view option);

/// As a file says it, on one line.
std::string write_vector_unit(const VectorUnit& unit);
std::string write_links(const Links& links);

}  // namespace pliant
