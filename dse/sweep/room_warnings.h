// SPDX-License-Identifier: Apache-2.0
// Networks of a sweep that do not fit into the memory their weights come from.
#pragma once

#include <string>
#include <vector>

#include "core/input/library.h"
#include "dse/sweep/sweep.h"

namespace pliant {

/// One sentence for each network and accelerator, as the file has it; axes may give it more room.
std::vector<std::string> room_warnings(const Library& library, const Sweep& sweep);

}  // namespace pliant
