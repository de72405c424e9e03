// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/task/spatial.h"

#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "dse/mappers/exact/task/ledger.h"

namespace pliant::exact {

Spatial::Spatial() {
  for (auto& level : factor) level.fill(1);
}

std::vector<SpatialLoop> Unrolling::loops(int dims) const {
  std::vector<SpatialLoop> all;
  for (int d = 0; d < dims; ++d) {
    if (rows[d] > 1) all.push_back({d, rows[d], Side::kRows});
    if (cols[d] > 1) all.push_back({d, cols[d], Side::kCols});
  }
  return all;
}

double least_steps(const Task& task, const Problem& problem, const Spatial& spatial) {
  double steps = problem.cycles_per_mac;
  for (int d = 0; d < problem.dims; ++d) {
    if (spatial.durations[d] > 0) {
      steps *= static_cast<double>(spatial.durations[d]);
      continue;
    }
    Count parallel = 1;
    for (const int l : members(problem.fanouts)) parallel *= spatial.factor[l][d];
    const Count size = task.layer.dims[d].size;
    steps *= static_cast<double>(parallel == 1 ? size : ceil_div(size, parallel));
  }
  return at_least<"L1.1">(steps, problem.busy_cycles);
}

double spatial_between(const Spatial& spatial, DimSet dims, int outside, int inside) {
  double product = 1;
  for (int l = outside + 1; l < inside; ++l)
    for (const int d : members(dims)) product *= static_cast<double>(spatial.factor[l][d]);
  return product;
}

std::vector<std::uint32_t> keep_patterns(const MapSpaceRules& rules, int tensor) {
  std::vector<std::uint32_t> found{0};
  for (const MemoryRules& memory : rules.memories) {
    if (!contains(memory.may_keep, tensor)) continue;
    const bool must = contains(memory.must_keep, tensor);
    std::vector<std::uint32_t> next;
    for (const std::uint32_t levels : found) {
      next.push_back(levels | 1U << memory.level);
      if (!must) next.push_back(levels);
    }
    found.swap(next);
  }
  return found;
}

}  // namespace pliant::exact
