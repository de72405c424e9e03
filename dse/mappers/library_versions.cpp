// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/library_versions.h"

#include <tbb/version.h>

namespace pliant {

std::vector<LibraryVersion> task_library_versions() { return {{"oneTBB", TBB_VERSION_STRING}}; }

}  // namespace pliant
