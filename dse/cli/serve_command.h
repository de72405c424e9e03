// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace pliant {

/// `pliant serve`: what a language model costs to serve.
int serve_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace pliant
