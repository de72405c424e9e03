// SPDX-License-Identifier: Apache-2.0
// The rules of the axes as a block of a file writes them, level by level.
#pragma once

#include <optional>

#include "core/accelerator.h"
#include "core/input/cursor.h"

namespace pliant {

/// The five axis keys of a layer of a block. A key present replaces all rules of its axis; those of a class only at the
/// levels it names, unless it names none.
void read_axes(const Cursor& block, const Accelerator& accelerator, std::optional<Operation> family, bool keep_others,
               Flexibility& flexibility);

/// F: the rules of memories, level by level. `keep_others` as above.
void read_fusion(const Cursor& block, const Accelerator& accelerator, bool keep_others, std::vector<FusionRule>& rules);

}  // namespace pliant
