// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace pliant {

// What `pliant --version` prints: Pliant's version on the first line, then the compiler and every library, one a line.
std::string version_text();

}  // namespace pliant
