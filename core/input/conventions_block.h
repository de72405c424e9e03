// SPDX-License-Identifier: Apache-2.0
// `conventions:` of an accelerator: a preset's name, or a map of options that may start from one.
#pragma once

#include "core/conventions.h"
#include "core/input/cursor.h"

namespace pliant {

/// What the block does not name stays as it is.
void read_conventions(const Cursor& block, Conventions& conventions);

}  // namespace pliant
