// SPDX-License-Identifier: Apache-2.0
// Mappings of a path through a lattice: the one that a path through single tiles is, and those near a path through
// groups of tiles (chain/groups.h), which says what groups and orders are best; bounds are rounded so that the tiles
// come near them.
#pragma once

#include <functional>
#include <span>

#include "dse/mappers/exact/lattice/steps.h"

namespace pliant::exact {

/// The loops of one memory on a path, and the node that they end at. Paths begin at the outermost memory.
struct PathLoops {
  Step step;
  int end = 0;
};

Mapping mapping_of(const Lattice& lattice, std::span<const PathLoops> path);

/// Calls visit(mapping) for every way to round. Not all of them are legal.
void for_each_rounded(const Lattice& lattice, std::span<const PathLoops> path,
                      const std::function<void(Mapping&&)>& visit);

}  // namespace pliant::exact
