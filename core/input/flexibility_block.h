// SPDX-License-Identifier: Apache-2.0
// The blocks `flexibility:`, `baseline:` and `partial:` of an accelerator, and the root of a flexibility file.
#pragma once

#include "core/accelerator.h"
#include "core/input/cursor.h"

namespace pliant {

/// Reads a `flexibility:` block (or the root of a flexibility file) into the accelerator, whose levels are known.
/// Keys outside `allowed` are problems.
void read_flexibility(const Cursor& block, Keys allowed, Accelerator& accelerator);

/// Reads the blocks `baseline:` and `partial:`, from which classes are made.
void read_baseline(const Cursor& block, Accelerator& accelerator);
void read_partial(const Cursor& block, Accelerator& accelerator);

/// Everything full: any tile that fits, any order, any dims; the array as built.
Flexibility full_flexibility(const Accelerator& accelerator);

}  // namespace pliant
