// SPDX-License-Identifier: Apache-2.0
// A mapping before any list of choices: factors are moved one at a time as long as that helps, first to the units, then
// to the tiles. Rarely the best, but a search that ends at any time has it.
#pragma once

#include "dse/mappers/exact/search/search.h"

namespace pliant::exact {

/// At most so many mappings are priced for the first one, and where time is up already.
inline constexpr std::uint64_t kMostOfFirst = 2000, kMostOfFirstInHaste = 300;

/// With perfect factors, which every rule allows. Empty where the plainest mapping and random ones are not legal, or
/// none that was found meets the task's deadline.
Incumbent first_mapping(const Task& task, std::uint64_t most_priced, SearchLimits& limits);

}  // namespace pliant::exact
