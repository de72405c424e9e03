// SPDX-License-Identifier: Apache-2.0
// `pliant completion SHELL` and `pliant man`: the option table as a shell and as man(1) want it.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace pliant {

int completion_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);
int man_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace pliant
