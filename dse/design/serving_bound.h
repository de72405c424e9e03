// SPDX-License-Identifier: Apache-2.0
// What serving a language model costs at least on every design of a box: on its ideal design. docs/dev/serving.md has
// the argument.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "core/accelerator.h"
#include "dse/results/rows.h"
#include "dse/sweep/design_goals.h"
#include "dse/sweep/sweep.h"

namespace pliant {

/// Of one workload that is served; of any other it says nothing.
struct ServingLeast {
  double ttft_s = 0, tpot_s = 0, s_per_token = 0, j_per_token = 0;
  double most_sequences = std::numeric_limits<double>::infinity();
  bool none_serves = false;  ///< it does not fit, or a layer has no mapping
  /// As a goal: small is good.
  double of(DesignMeasure measure) const;
  /// Both hold: the sharper of each.
  void raise(const ServingLeast& other);
  /// One of both holds.
  void lower(const ServingLeast& other);
};

/// By workload of the sweep; empty where none is served.
using ServingBounds = std::vector<ServingLeast>;

/// Without a search.
ServingBounds serving_floors(const Sweep& sweep, const std::shared_ptr<const Accelerator>& ideal);
/// With the best mappings of the ideal design; nullopt after a stop.
std::optional<ServingBounds> search_serving_bounds(const Sweep& sweep, const std::shared_ptr<const Accelerator>& ideal,
                                                   const std::stop_token& stop);
/// The figures of one design.
ServingBounds serving_bounds_of(const std::vector<std::optional<DesignRow::Serving>>& served);

/// Both hold, workload by workload.
void raise(ServingBounds& bounds, const ServingBounds& other);

}  // namespace pliant
