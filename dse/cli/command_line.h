// SPDX-License-Identifier: Apache-2.0
// What all commands do alike: read their line, answer --help, say what is wrong.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "dse/answers/arguments.h"

namespace pliant {

struct CommandLine {
  std::string_view command;  ///< "map"; its options are its rows in option_table.cpp
  std::string_view usage;    ///< stands above the options in --help
  int most_words = 0;        ///< how many words without a dash it takes
};

/// Runs the command with what was read. Exit codes: the command's own; 0 after --help; 2 for bad input, which is named
/// on `err`; 1 for storage that fails.
int run_command(const CommandLine& line, const std::vector<std::string>& args, std::ostream& out, std::ostream& err,
                const std::function<int(const Arguments&)>& command);

}  // namespace pliant
