// SPDX-License-Identifier: Apache-2.0
// Loops outside units that split their dim: the window of a unit jumps past those of its neighbours. Where the jump is
// at least as long as the window, one iteration shares no word with another and the loop brings whole windows.
#pragma once

#include <array>
#include <span>

#include "dse/mappers/exact/lattice/boxes.h"
#include "dse/mappers/exact/words/costs.h"

namespace pliant::exact {

/// One memory of a choice, and what a tensor pends there: its pairs from the innermost pending one outwards.
struct PendingWindows {
  const ResolvedTask& resolved;
  const Spatial& spatial;
  const Boxes& boxes;
  int k;
  std::span<const KeeperPair> pairs;
};

/// Do the windows that a loop over `dim` outside this node gives the tensor one after the other never overlap? Then the
/// loop brings whole windows, as a loop that does not slide. Answered for dims that units split; elsewhere a slide
/// costs the same when windows do not overlap.
bool windows_apart(const PendingWindows& of, int dim, const std::array<int, kMaxDims>& node);

/// Where windows stay apart: 0 there and infinity elsewhere, and the other way round.
struct ApartNodes {
  ApartNodes() = default;
  ApartNodes(const PendingWindows& of, int dim, ArrayStore& store);
  Array apart, overlapping;
  bool nowhere = true;
};

}  // namespace pliant::exact
