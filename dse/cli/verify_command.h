// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace pliant {

/// `pliant verify`: re-prices and re-proves what `pliant map --json` wrote.
int verify_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace pliant
