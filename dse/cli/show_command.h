// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace pliant {

/// `pliant show accelerator|workload|layer NAME`: what was understood of an input. args without the program's and the
/// command's name. Returns the exit code.
int show_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace pliant
