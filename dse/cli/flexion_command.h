// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace pliant {

/// `pliant flexion`: how flexible an accelerator is, axis by axis. args without the program's and the command's name.
/// Returns the exit code.
int flexion_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace pliant
