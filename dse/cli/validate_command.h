// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace pliant {

/// `pliant validate`: the model against reference vectors. 0 only when nothing differs without an excuse, else 1.
int validate_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace pliant
