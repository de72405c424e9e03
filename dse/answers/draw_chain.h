// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/accelerator.h"

namespace pliant {

/// The level chain as a picture, outermost at the top: memories as boxes, fanouts as forks, the number of copies at the
/// right. `ascii` uses no character beyond ASCII.
std::string draw_chain(const Accelerator& accelerator, bool ascii);

/// "I W O", a dot for what is not kept, brackets around what a mapping may leave out.
std::string kept_roles(const Memory& memory);

}  // namespace pliant
