// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/choices/choice.h"

#include <bit>

#include "core/arithmetic.h"
#include "dse/mappers/exact/choices/fanout_lists.h"
#include "dse/mappers/exact/ledger.h"
#include "flex/mapspace/rules.h"

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
    for (std::uint32_t rest = problem.fanouts; rest != 0; rest &= rest - 1)
      parallel *= spatial.factor[std::countr_zero(rest)][d];
    const Count size = task.layer.dims[d].size;
    steps *= static_cast<double>(parallel == 1 ? size : ceil_div(size, parallel));
  }
  return at_least<"L1.1">(steps, problem.busy_cycles);
}

SpatialChoices::SpatialChoices(const Task& task, const Problem& problem, SearchLimits& limits, LeftOut left_out)
    : lists_(left_out.lists ? left_out.lists : std::make_shared<const FanoutLists>(task, problem, limits, left_out)),
      most_steps_(left_out.most_steps),
      slow_(lists_->slow),
      unlisted_(lists_->unlisted),
      dear_(lists_->dear),
      unlisted_floor_(lists_->unlisted_floor) {
  combine(task, problem, limits, left_out);
}

void SpatialChoices::get(std::size_t i, Spatial& spatial) const {
  const std::vector<int>& levels = lists_->levels;
  for (std::size_t f = 0; f < levels.size(); ++f) {
    const Unrolling& unrolling = (*lists_->unrollings[f])[index_[i * levels.size() + f]];
    auto& factor = spatial.factor[levels[f]];
    for (int d = 0; d < kMaxDims; ++d) factor[d] = unrolling.factor(d);
    spatial.unrolling[levels[f]] = &unrolling;
  }
}

bool SpatialChoices::same(std::size_t i, const SpatialChoices& other, std::size_t j) const {
  const std::size_t fanouts = lists_->levels.size();
  bool same = steps_[i] == other.steps_[j];
  for (std::size_t f = 0; f < fanouts && same; ++f)
    same = (*lists_->unrollings[f])[index_[i * fanouts + f]] ==
           (*other.lists_->unrollings[f])[other.index_[j * fanouts + f]];
  return same;
}

std::vector<std::uint32_t> keep_patterns(const MapSpaceRules& rules, int tensor) {
  std::vector<std::uint32_t> found{0};
  for (const MemoryRules& memory : rules.memories) {
    if ((memory.may_keep >> tensor & 1U) == 0) continue;
    const bool must = (memory.must_keep >> tensor & 1U) != 0;
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
