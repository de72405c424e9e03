// SPDX-License-Identifier: Apache-2.0
// Words along affine ranks whose dims have short last tiles: counted over the few kinds of tiles that occur. Slower
// than the closed forms of windows.h and allowed to allocate.
#pragma once

#include <cstdint>

#include "costmodel/loop_nest.h"
#include "costmodel/transfer.h"

namespace pliant {

/// Words along one rank that leave the parent when it serves the children of the `united` fanouts as one; or, not
/// `at_parent`, that arrive at all children.
double short_window_words(const LoopNest& loops, const Problem::AffineRank& joint, const Transfer& transfer,
                          const MovingLoop& mover, bool at_parent, std::uint32_t united);

/// Distinct elements along the output's affine ranks, summed over the instances of a level that split them.
double distinct_output_extent(const LoopNest& loops, int level);

}  // namespace pliant
