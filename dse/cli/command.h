// SPDX-License-Identifier: Apache-2.0
// The commands of `pliant`, one row each.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "dse/answers/arguments.h"

namespace pliant {

/// Exit codes: 0 done, 2 bad input (located and explained on err), 3 no legal mapping.
struct Command {
  std::string_view name;
  std::string_view summary;  ///< one line of `pliant --help`
  /// Of what is about the program itself; nullptr: dse/answers answers it.
  int (*run)(const Arguments& arguments, std::ostream& out) = nullptr;
  int most_words = 0;  ///< of `run`
};
const std::vector<Command>& commands();

/// `pliant ARGS...`: finds the command and runs it. Bad input and unknown commands end with 2.
int run_pliant(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace pliant
