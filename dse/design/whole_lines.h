// SPDX-License-Identifier: Apache-2.0
// Lines below a workload that is asked as a whole (a network, or layers with a deadline): which slope to ask next, and
// how high the lines could come. docs/design-search.md has the proof.
#pragma once

#include <optional>

#include "core/accelerator.h"
#include "core/mapping.h"
#include "dse/design/network_bound.h"

namespace pliant {

/// What goals and limits ask of a workload, besides its deadline.
struct WholeNeeds {
  bool energy = false, cycles = false, edp = false;
};

/// The slope of the line that can raise its bounds most; nullopt when no other line can raise them, or not by enough.
std::optional<double> next_slope(const LayerBound& workload, const WholeNeeds& needs, double most_cycles);

/// What was found on the very design: no line there can say more. Infinite where nothing was.
struct WholeReached {
  LayerBound least;             ///< each by itself; the energy within the deadline
  LayerBound at_least_product;  ///< of the choice with the least product
};
WholeReached reached_by(const LayerBound& workload, double most_cycles);

/// Without a search: every layer by the mapper's floors, wherever its tensors live. The workload has a graph.
LayerBound whole_floor(const Workload& workload, const Accelerator& accelerator, Factorization rule,
                       bool weights_may_stay = false);

}  // namespace pliant
