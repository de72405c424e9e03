// SPDX-License-Identifier: Apache-2.0
// What a parent serves to the children of a network in all its rounds, where it is known which tiles each round has.
#pragma once

#include <array>
#include <functional>
#include <utility>

#include "dse/mappers/exact/task/facts.h"
#include "dse/mappers/exact/task/spatial.h"

namespace pliant::exact {

/// Words that a parent serves along a rank in all rounds of a network whose children's tiles lie side by side along
/// each dim, all of them full but the last: windows of one round that begin at the same value are served once, so at
/// least the longest of them. `words` are those of one window of a tile. Exact for a rank of two dims, elsewhere a
/// lower bound.
double words_of_rounds(const Spatial& spatial, const Problem::AffineRank& rank, std::pair<int, int> network,
                       const std::array<double, kMaxDims>& size, const std::array<double, kMaxDims>& tile,
                       const std::function<double(const std::array<double, kMaxDims>& tile)>& words);

}  // namespace pliant::exact
