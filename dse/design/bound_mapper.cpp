// SPDX-License-Identifier: Apache-2.0
#include "dse/design/bound_mapper.h"

#include <algorithm>

#include "dse/mappers/exact/exact_mapper.h"

namespace pliant {

SearchResult BoundMapper::search(const Task& task, const SearchOptions& options) const {
  if (!bound_) return exact_.search(task, options);
  SearchOptions within = options;
  within.gap = std::max(options.gap, bound_->gap);
  return bound_->start ? prove_from(task, bound_->start->mapping, within) : exact_.search(task, within);
}

}  // namespace pliant
