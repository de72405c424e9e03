// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace pliant {

/// `pliant pareto DIR --minimize a,b`: the designs of a dataset that no other beats. args without the program's and the
/// command's name. Returns the exit code.
int pareto_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace pliant
