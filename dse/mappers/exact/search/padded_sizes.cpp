// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/search/padded_sizes.h"

#include <algorithm>

#include "core/arithmetic.h"
#include "dse/mappers/exact/bounds/bound.h"

namespace pliant::exact {

std::map<std::vector<Count>, PaddedSize> by_padded_size(const Task& task, const Problem& problem,
                                                        const SpatialChoices& choices, SearchLimits& limits) {
  std::map<std::vector<Count>, PaddedSize> groups;
  Spatial spatial;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i % 1024 == 0 && limits.expired()) break;
    choices.get(i, spatial);
    std::vector<Count> sizes;
    bool fits = true;
    double macs = 1;
    for (int d = 0; d < problem.dims; ++d) {
      Count spread = 1;
      for (int l = 0; l < problem.levels; ++l) spread *= spatial.factor[l][d];
      const Count size = task.layer.dims[d].size;
      fits &= spread <= size;
      sizes.push_back(ceil_div(size, spread) * spread);
      macs *= static_cast<double>(sizes.back());
    }
    if (!fits) continue;
    PaddedSize& group = groups[sizes];
    group.floor = std::min(group.floor,
                           objective_bound(problem, task, macs * problem.mac_pj, choices.steps(i), choices.steps(i)));
    group.choices.push_back(static_cast<std::uint32_t>(i));
  }
  return groups;
}

}  // namespace pliant::exact
