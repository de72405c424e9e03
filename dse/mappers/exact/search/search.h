// SPDX-License-Identifier: Apache-2.0
// Closes one choice of spatial factors and kept tensors: from the lattice's bounds to the best complete mapping.
#pragma once

#include <optional>

#include "core/arithmetic.h"
#include "dse/mappers/exact/bounds/bound.h"
#include "dse/mappers/exact/lattice/lattice.h"
#include "dse/mappers/exact/search_limits.h"

namespace pliant::exact {

/// Lower bounds and prices are sums of the same products in different orders; below this they are the same number.
inline constexpr double kRounding = 1e-11;

/// Nothing with this lower bound is better than the value.
inline bool no_better(double bound, double value) { return bound >= value * (1 - kRounding); }

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
