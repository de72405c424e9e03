// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace pliant {

/// `pliant query DIR --where ... --sort ...`: rows of a dataset. args without the program's and the command's name.
/// Returns the exit code.
int query_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace pliant
