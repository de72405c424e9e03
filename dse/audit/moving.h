// SPDX-License-Identifier: Apache-2.0
// What it takes to move words between memories while no layer runs, and where operands may stand, as the auditor counts
// it. docs/networks.md has the model.
#pragma once

#include <map>
#include <utility>

#include "core/accelerator.h"
#include "core/layer.h"

namespace pliant::audit {

/// By level, words read and written.
using WordsMoved = std::map<int, std::pair<double, double>>;
struct MovingCost {
  double energy_pj = 0, cycles = 0;
};
/// What moving words takes: their energy, and the whole cycles of the busiest port while everything leaks.
MovingCost cost_of_moving(const Accelerator& accelerator, const WordsMoved& moved, Role read, Role written);
/// What memories and units lose in a cycle, all of them together.
double leaks_per_cycle(const Accelerator& accelerator);
/// The outermost memory that may keep the role.
int outermost_of(const Accelerator& accelerator, Role role);

/// May the layer have this operand in the memory? Keeps are said by role, so it must be the only one of its role, and
/// there must be another memory outside that it comes from.
bool may_stand_in(const Layer& layer, int operand, const Accelerator& accelerator, int level);

/// Words of the memory that so many elements take.
Count whole_words(const Accelerator& accelerator, Count elements, int bits, int level);

}  // namespace pliant::audit
