// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace pliant {

// A name and a version as `pliant --version` prints them.
struct LibraryVersion {
  std::string name;
  std::string version;
};

// Pliant's own version, MAJOR.MINOR.PATCH.
std::string version();

// The compiler that built this library, e.g. "g++ 12.2.0".
std::string compiler_version();

// The libraries that core is built with.
std::vector<LibraryVersion> core_library_versions();

}  // namespace pliant
