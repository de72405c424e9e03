// SPDX-License-Identifier: Apache-2.0
// The whole proof: all choices, most of them discarded by bounds, the rest by their lattices.
#pragma once

#include "dse/mappers/exact/search.h"

namespace pliant::exact {

/// Contract: the result does not depend on options.threads. Mappings better than `incumbent` are looked for; when there
/// are none it is the result.
SearchResult prove(const Task& task, const Problem& problem, const SearchOptions& options, Incumbent incumbent);

}  // namespace pliant::exact
