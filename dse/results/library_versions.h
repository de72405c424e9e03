// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/version.h"

namespace pliant {

// The libraries that write tables and name their contents, as loaded at run time.
std::vector<LibraryVersion> table_library_versions();

}  // namespace pliant
