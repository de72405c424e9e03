// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace pliant {

/// `pliant design`: the designs of a space that no other beats, proven.
int design_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace pliant
