// SPDX-License-Identifier: Apache-2.0
// Closes one choice of spatial factors and kept tensors: from the lattice's bounds to the best complete mapping.
#pragma once

#include <optional>

#include "core/arithmetic.h"
#include "dse/mappers/exact/bounds/bound.h"
#include "dse/mappers/exact/lattice/lattice.h"
#include "dse/mappers/exact/task/search_limits.h"
#include "dse/mappers/exact/task/tolerances.h"

namespace pliant::exact {

struct Incumbent {
  std::optional<Mapping> mapping;
  Totals totals;
  double value = kInfinity;
};

/// Bounds one choice by its tables and tries the mappings that are best in one of them. A choice whose bound stays
/// below the incumbent is not decided yet. `cycles`: so many are certain for all its mappings.
double bound_choice(Lattice& lattice, Incumbent& incumbent, SearchLimits& limits, double cycles = 0);

/// Improves the incumbent with the best mapping of this lattice. Returns a proven lower bound for the choice; it is
/// at least the incumbent's value (less the gap asked for) unless the lattice is over() or too large.
double close_choice(Lattice& lattice, Incumbent& incumbent, SearchLimits& limits, double cycles = 0);

}  // namespace pliant::exact
