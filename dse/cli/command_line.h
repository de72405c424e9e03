// SPDX-License-Identifier: Apache-2.0
// What all commands do alike: read their options, answer --help, say what is wrong with them.
#pragma once

#include <boost/program_options.hpp>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

struct CommandLine {
  std::string_view command;  ///< "pliant map"
  std::string_view usage;    ///< stands above the options in --help
  boost::program_options::options_description options;
  /// Words without a dash are kept under this name; empty = none are allowed.
  std::string words = {};
  int most_words = 1;  ///< 1: a std::string; -1: any number, a std::vector<std::string>
};

/// Runs the command with the values read. Exit codes: the command's own; 0 after --help; 2 for bad input, which is
/// named on `err`; 1 for storage that fails.
int run_command(const CommandLine& line, const std::vector<std::string>& args, std::ostream& out, std::ostream& err,
                const std::function<int(const boost::program_options::variables_map&)>& command);

}  // namespace pliant
