// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/choices/choice.h"

#include "dse/mappers/exact/choices/fanout_lists.h"

namespace pliant::exact {

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

}  // namespace pliant::exact
