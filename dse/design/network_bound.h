// SPDX-License-Identifier: Apache-2.0
// What a network costs at least, from what its layers cost at least.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/layer.h"

namespace pliant {

/// Energy + slope * cycles of a workload that is asked as a whole are at least `least`; with an infinite slope, its
/// cycles are.
struct LineBound {
  double slope = 0, least = 0;
  double energy_pj = 0, cycles = 0;  ///< of what was found where the line was searched
  bool here = false;                 ///< that was on the very design: no bound of it is higher
  bool operator==(const LineBound&) const = default;
};

/// What one mapping of a layer costs at least.
struct LayerBound {
  double energy_pj = 0, cycles = 0, edp = 0;
  std::vector<LineBound> lines{};  ///< by slope, of a whole workload
  /// What energy, cycles and product rest on: numbers in the search's ProvenBounds; -1 = on nothing that is kept there.
  std::array<std::int32_t, 3> rests_on{-1, -1, -1};
  /// The sharper of two lines of a slope.
  void raise(const LineBound& line);
  /// Both hold: the sharper of each.
  void raise(const LayerBound& other);
  /// One of both holds.
  void lower(const LayerBound& other);
  bool operator==(const LayerBound&) const = default;
};

struct RepeatedBound {
  LayerBound bound;
  Count count = 1;
};

struct NetworkBound {
  double energy_pj = 0, cycles = 0, edp = 0;
};

/// What a whole workload costs at least when it takes no more cycles than this: what its lines leave.
NetworkBound bound_whole(const LayerBound& workload, double most_cycles);

/// Sums of energy and of cycles; and the least product of such sums. A layer's points lie in the convex region
/// energy >= e, cycles >= t, energy * cycles >= v; their sums lie in the sum of the regions, which lines bound; over
/// what the lines leave the product is least at a corner.
NetworkBound bound_network(const std::vector<RepeatedBound>& layers);

}  // namespace pliant
