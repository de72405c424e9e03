// SPDX-License-Identifier: Apache-2.0
// What `--help` prints.
#pragma once

#include <string>
#include <string_view>

#include "dse/answers/option_table.h"

namespace pliant {

/// How a command is used, with examples, and its options.
std::string help_text(std::string_view command);
/// The options alone.
std::string options_text(std::string_view command);

}  // namespace pliant
