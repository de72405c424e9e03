// SPDX-License-Identifier: Apache-2.0
// The whole proof: all choices, most of them discarded by bounds, the rest by their lattices.
#pragma once

#include "dse/mappers/exact/search/search.h"

namespace pliant::exact {

/// Contract: the result does not depend on options.threads. Mappings better than `incumbent` are looked for; when there
/// are none it is the result. A limit of effort (in units of about a nanosecond, 0 = none) ends it like a budget, but
/// always at the same place; what was used of it is added to `used`.
SearchResult prove(const Task& task, const Problem& problem, const SearchOptions& options, Incumbent incumbent,
                   std::uint64_t effort = 0, std::uint64_t* used = nullptr);

/// The same with padding. The unrolling decides the padded sizes; for each of them the padded layer is mapped with
/// perfect factors.
SearchResult prove_padded(const Task& task, const Problem& problem, const SearchOptions& options, Incumbent incumbent,
                          std::uint64_t effort = 0);

}  // namespace pliant::exact
