// SPDX-License-Identifier: Apache-2.0
// Runtime and energy at once: the mappings of one layer that no other beats in both.
#pragma once

#include <vector>

#include "dse/mappers/mapper.h"

namespace pliant {

struct Frontier {
  std::vector<SearchResult> points;  ///< fastest first; each has the least energy within its cycles
  /// Every point is proven, and so is that there is no other.
  bool certified = false;
};

/// Walks the frontier point by point: the least runtime, then the least energy of all, then the least energy among the
/// faster mappings until that runtime is reached. Every objective but EDP over utilization grows with energy and with
/// runtime, so its best mappings, alone or beside others, are among these points. The task's own objective is ignored;
/// the budget holds for the whole walk.
Frontier search_frontier(const Mapper& mapper, const Task& task, const SearchOptions& options);

}  // namespace pliant
