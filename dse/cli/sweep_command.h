// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace pliant {

/// `pliant sweep FILE -o DIR`: the outer loop. args without the program's and the command's name. Returns the exit
/// code: 0 done, 1 the disk refused, 2 bad input, 130 interrupted.
int sweep_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace pliant
