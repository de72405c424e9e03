// SPDX-License-Identifier: Apache-2.0
// QuickFlow's search: factors first, loop orders chosen in one shot for each allocation of factors, a local search of
// several hops with a beam, in three rounds (parallelism, tiling, both).
#pragma once

#include <memory>

#include "dse/mappers/mapper.h"

namespace pliant {

/// Moves prime factors, so it stays within the perfect mappings, which every mapspace contains.
/// Options: hops1, hops2, hops3 (N of each round; 4, 2, 4), chain (longest chain of moves; 8), beam (1024),
/// utilization (exponent of utilization in the search objective; 1).
std::unique_ptr<Mapper> make_local_mapper();

}  // namespace pliant
