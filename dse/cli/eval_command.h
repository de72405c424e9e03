// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace pliant {

/// `pliant eval`: checks one mapping and prices it. 3 when it is illegal, with every violated limit.
int eval_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace pliant
