// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace pliant {

/// `pliant import`: files of other tools in our formats.
int import_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace pliant
