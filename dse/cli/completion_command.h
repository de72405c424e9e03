// SPDX-License-Identifier: Apache-2.0
// `pliant completion SHELL` and `pliant man`: the option table as a shell and as man(1) want it.
#pragma once

#include <iosfwd>

#include "dse/answers/arguments.h"

namespace pliant {

int completion_command(const Arguments& arguments, std::ostream& out);
int man_command(const Arguments& arguments, std::ostream& out);

}  // namespace pliant
