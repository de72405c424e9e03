// SPDX-License-Identifier: Apache-2.0
// Mappings of a choice read off the tiles of its bound: the loops of every memory grow the tile inside it to its own,
// and those that the bound wants first come first. Nothing says that they are the best, or even legal: their price and
// the judge do. Where one costs what the bound says, the choice needs no lattice.
#pragma once

#include "dse/mappers/exact/bounds/unrolling_bounds.h"
#include "dse/mappers/exact/search/search.h"

namespace pliant::exact {

/// Tries them until one is as good as the bound, and keeps the best as the incumbent. Iterations in time must be known:
/// factors are perfect, or durations chosen.
void read_off(const ResolvedTask& resolved, const UnrollingBounds& bounds, std::size_t keep_choice, double bound,
              Incumbent& incumbent, SearchLimits& limits);

}  // namespace pliant::exact
