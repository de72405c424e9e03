// SPDX-License-Identifier: Apache-2.0
// Closes one choice of spatial factors and kept tensors: from the lattice's bounds to the best complete mapping.
#pragma once

#include <chrono>
#include <optional>

#include "dse/mappers/exact/bound.h"
#include "dse/mappers/exact/lattice.h"

namespace pliant::exact {

struct Incumbent {
  std::optional<Mapping> mapping;
  Totals totals;
  double value = std::numeric_limits<double>::infinity();
};

/// Stops a search from outside; also counts what was done.
struct Meter {
  std::stop_token stop;
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::uint64_t priced = 0, expanded = 0;
  bool expired = false;
  bool out_of_time();
};

/// Bounds one choice by its tables and tries the mappings that are best in one of them. A choice whose bound stays
/// below the incumbent is not decided yet.
double bound_choice(Lattice& lattice, Incumbent& incumbent, Meter& meter);

/// Improves the incumbent with the best mapping of this lattice. Returns a proven lower bound for the choice; it is
/// at least the incumbent's value unless the meter ran out.
double close_choice(Lattice& lattice, Incumbent& incumbent, Meter& meter);

}  // namespace pliant::exact
