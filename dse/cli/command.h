// SPDX-License-Identifier: Apache-2.0
// The commands of `pliant`, one row each.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

/// Exit codes: 0 done, 2 bad input (located and explained on err), 3 no legal mapping.
struct Command {
  std::string_view name;
  std::string_view summary;  ///< one line of `pliant --help`
  /// args without the program's and the command's name; `--help` among them prints help with an example.
  int (*run)(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);
};
const std::vector<Command>& commands();

/// `pliant ARGS...`: finds the command and runs it. Bad input and unknown commands end with 2.
int run_pliant(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace pliant
