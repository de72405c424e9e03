// SPDX-License-Identifier: Apache-2.0
// Mappings near a path through groups of tiles (chain/groups.h): the path says which groups and orders are best, and
// bounds are rounded so that the tiles come near them.
#pragma once

#include <functional>
#include <span>

#include "dse/mappers/exact/lattice/steps.h"

namespace pliant::exact {

/// The loops of one memory on the path, and the node that they end at.
struct GroupedLoops {
  const Step* step;
  int end;
};

/// Calls visit(mapping) for every way to round, from the innermost memory outwards. Not all of them are legal.
void for_each_rounded(const Lattice& lattice, std::span<const GroupedLoops> path,
                      const std::function<void(Mapping&&)>& visit);

}  // namespace pliant::exact
