// SPDX-License-Identifier: Apache-2.0
// A mapping without remainders made better by remainders over units: of 132 units it may use 128 only. Bounds of
// spatial loops and tiles of memories are changed one at a time as long as that helps; what is left outside follows.
#pragma once

#include "dse/mappers/exact/search/search.h"

namespace pliant::exact {

/// A legal mapping of the task, under Ruby-S: no worse than the one that it starts with. `most_priced` mappings are
/// tried, and as many again whenever a tenth has been gained.
Incumbent with_uneven_units(const Task& task, const Problem& problem, Incumbent start, std::uint64_t most_priced,
                            SearchLimits& limits);

}  // namespace pliant::exact
