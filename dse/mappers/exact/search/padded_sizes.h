// SPDX-License-Identifier: Apache-2.0
// Unrollings by the sizes they pad the dims to: each of these is a layer of its own, with perfect factors.
#pragma once

#include <map>
#include <vector>

#include "dse/mappers/exact/choices/spatial_choices.h"

namespace pliant::exact {

struct PaddedSize {
  double floor = std::numeric_limits<double>::infinity();  ///< of the objective, over all its unrollings
  std::vector<std::uint32_t> choices;
};

/// By the padded sizes. Ends early when time is up.
std::map<std::vector<Count>, PaddedSize> by_padded_size(const Task& task, const Problem& problem,
                                                        const SpatialChoices& choices, SearchLimits& limits);

}  // namespace pliant::exact
