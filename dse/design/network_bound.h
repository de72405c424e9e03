// SPDX-License-Identifier: Apache-2.0
// What a network costs at least, from what its layers cost at least.
#pragma once

#include <vector>

#include "core/layer.h"

namespace pliant {

/// What one mapping of a layer costs at least.
struct LayerBound {
  double energy_pj = 0, cycles = 0, edp = 0;
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

/// Sums of energy and of cycles; and the least product of such sums. A layer's points lie in the convex region
/// energy >= e, cycles >= t, energy * cycles >= v; their sums lie in the sum of the regions, which lines bound; over
/// what the lines leave the product is least at a corner.
NetworkBound bound_network(const std::vector<RepeatedBound>& layers);

}  // namespace pliant
