// SPDX-License-Identifier: Apache-2.0
// What the conventions make of a problem, and how many values a tile has along a rank.
#pragma once

#include <array>

#include "costmodel/problem.h"

namespace pliant::exact {

DimSet dims_of(const Problem::AffineRank& rank);

/// Words of a tile along one rank; `distinct` whatever the footprint convention says.
double extent(const Problem& problem, const Problem::AffineRank& rank, const std::array<double, kMaxDims>& tile,
              bool distinct);

/// Does the model remember displacements along this rank, so that its words are not a function of the node?
bool displacement_walks(const Problem& problem, const Problem::AffineRank& rank);
bool displacement_walks(const Problem& problem);  ///< along any rank

/// Are demands of ports rounded after a division, whose error differs with the steps?
bool rounds_demands(const Problem& problem);

/// Are outputs dealt to units as shares of a bounding box? Then first arrivals depend on the tiles in between.
bool deals_boxes(const Problem& problem);

/// Dims of a rank, and of others whose windows are its own too.
DimSet dims_of_windows(const Problem& problem, int tensor, const Problem::AffineRank& rank);

}  // namespace pliant::exact
