// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace pliant {

/// `pliant export`: a mapping in the formats of other tools.
int export_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace pliant
