// SPDX-License-Identifier: Apache-2.0
// QuickFlow's search: factors first, loop orders chosen in one shot for each allocation of factors, a local search of
// several hops with a beam, in three rounds (parallelism, tiling, both).
#pragma once

#include <memory>

#include "dse/mappers/local/local_search.h"
#include "dse/mappers/mapper.h"

namespace pliant {

/// Moves prime factors, so it stays within the perfect mappings, which every mapspace contains. Where it differs from
/// the paper: any power of a prime may move at once in every round; a buffer may overflow between two moves of a chain;
/// the beam goes downhill from each of its members; the third round starts with two hops and takes its dearer steps (a
/// wider beam, other uses of the array, swaps, up to N hops) only while it has priced less than `effort`. Options:
/// hops1, hops2, hops3 (N of each round; 4, 2, 4), chain (longest chain of moves; 8), beam (1024), arrays (uses of the
/// array kept from round 1; 128), effort (40,000 prices), restarts (from a random
/// allocation, after a short search; 1), utilization (exponent of utilization in the search objective; 1).
std::unique_ptr<Mapper> make_local_mapper();

/// The same search, and what it counted.
SearchResult search_and_count(const Task& task, const SearchOptions& options, LocalCounts& counts);

}  // namespace pliant
