// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace pliant {

/// `pliant map`: the best mapping of a layer, or of every layer of a workload.
int map_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace pliant
