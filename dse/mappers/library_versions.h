// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/version.h"

namespace pliant {

// The task library that runs mappers in parallel.
std::vector<LibraryVersion> task_library_versions();

}  // namespace pliant
