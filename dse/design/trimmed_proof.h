// SPDX-License-Identifier: Apache-2.0
// Which layers' bounds a closed box needs: certificates name no others.
#pragma once

#include <optional>
#include <vector>

#include "dse/design/bounded_space.h"
#include "dse/design/found_designs.h"

namespace pliant {

/// Bounds of a box, by factorization rule; those of rules under which nothing fits are left out.
struct TrimmedProof {
  std::vector<bool> needed;  ///< by layer
  Point least;               ///< what follows from these alone
};

/// The layers with the largest share of a network's work first, as few as still close the box; of the others only what
/// MACs take on this design. nullopt when even all do not.
std::optional<TrimmedProof> trimmed(const GoalBounds& goals, const DistinctLayers& layers, const FoundDesigns& found,
                                    const HardwareFacts& facts, const std::vector<LayerBounds>& bounds,
                                    const Accelerator& ideal);

}  // namespace pliant
