// SPDX-License-Identifier: Apache-2.0
// A command's line, read with Boost.Program_options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dse/answers/arguments.h"

namespace pliant {

/// What stands on the line; InputError as Arguments says. `command` without `pliant`.
Arguments read_arguments(std::string_view command, const std::vector<std::string>& args, int most_words);

/// The options of a command as --help prints them.
std::string options_text(std::string_view command);

}  // namespace pliant
