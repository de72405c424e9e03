// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/choices/spatial_choices.h"

#include "dse/mappers/exact/choices/fanout_lists.h"
#include "dse/mappers/exact/choices/unrolling_tree.h"

namespace pliant::exact {

SpatialChoices::SpatialChoices(const Task& task, const Problem& problem, SearchLimits& limits, const LeftOut& left_out)
    : lists_(std::make_shared<const FanoutLists>(task, problem, limits, left_out)),
      most_steps_(left_out.most_steps),
      slow_(lists_->slow),
      unlisted_(lists_->unlisted),
      dear_(lists_->dear),
      lost_(lists_->unlisted_floor),
      by_floors_(lists_->many && left_out.partial != nullptr) {
  if (by_floors_) {
    tree_ = std::make_unique<Tree>(*this, task, problem, limits, left_out.partial);
    tree_->run(left_out);
  } else {
    Tree(*this, task, problem, limits, nullptr).run();
  }
}

SpatialChoices::~SpatialChoices() = default;

bool SpatialChoices::more() const { return tree_ != nullptr && tree_->waits(); }

void SpatialChoices::list_next(const LeftOut& left_out) {
  index_.clear();
  steps_.clear();
  least_.clear();
  most_steps_ = left_out.most_steps;
  tree_->run(left_out);
}

void SpatialChoices::put_back() { tree_->put_back(); }

double SpatialChoices::unlisted_floor() const {
  return std::min(lost_, tree_ != nullptr ? tree_->least_waiting() : kInfinity);
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

}  // namespace pliant::exact
