// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "dse/import/accelforge/accelforge.h"
#include "dse/import/accelforge/component.h"
#include "dse/import/accelforge/tensor_set.h"

namespace pliant::accelforge {

/// One entry of `spatial:`: copies of a node and of all that is inside it.
struct SpatialSide {
  Count units = 1;
  RoleSet reused = 0;  ///< only loops that reuse all of these may stand here; 0 = any loop
  bool multicast = true, reduction = true;
};

std::optional<SpatialSide> read_side(const Cursor& cursor, ComponentContext& context, ImportLog& log);

}  // namespace pliant::accelforge
