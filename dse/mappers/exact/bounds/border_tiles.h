// SPDX-License-Identifier: Apache-2.0
// One border with all functionals together: every tile of one memory with a capacity, and what it means for the
// transfers across its border and inside it.
//
// Every mapping has one tile there. Large ones save deliveries across the border. But what does not fit into a memory
// further in is moved there by a loop inside the border, so it comes again for every round outside it. For each tile
// all functionals are known at least, so the objective is, and the least over the tiles holds for the choice.
#pragma once

#include "dse/mappers/exact/bounds/unrolling_bounds.h"

namespace pliant::exact {

/// The objective of any tile of memory k, or the limit; 0: nothing is known.
double least_of_border_tiles(const UnrollingBounds& bounds, const UnrollingBounds::Chosen& chosen, int k, double cycles,
                             double limit);

}  // namespace pliant::exact
