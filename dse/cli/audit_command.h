// SPDX-License-Identifier: Apache-2.0
// `pliant audit`: checks a certificate with code of its own.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace pliant {

int audit_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace pliant
