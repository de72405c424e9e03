// SPDX-License-Identifier: Apache-2.0
// What no mapping of a layer can do without, known without a search.
#pragma once

#include "costmodel/task.h"

namespace pliant {

struct LayerFloor {
  double energy_pj = 0, cycles = 0;
};

/// Every word moves once between the best keepers for it, and no more than `most_units` work. Zeros under conventions
/// for which nothing is proven.
LayerFloor layer_floor(const Task& task, double most_units);
/// With all units of the accelerator.
LayerFloor layer_floor(const Task& task);

}  // namespace pliant
