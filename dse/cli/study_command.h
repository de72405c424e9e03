// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace pliant {

/// `pliant study`: the papers, reproduced. args without the program's and the command's name. Returns the exit code.
int study_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace pliant
