// SPDX-License-Identifier: Apache-2.0
#include "support/listed_macs.h"

#include <algorithm>

namespace pliant::reference {

ListedMacs::ListedMacs(const Layer& layer, const Accelerator& accelerator, const Mapping& mapping)
    : layer_(layer), accelerator_(accelerator), mapping_(mapping) {
  levels_ = static_cast<int>(accelerator.levels.size()) - 1;
  for (int l = 0; l < levels_; ++l) {
    for (const Loop& loop : mapping.levels[l].temporal) add_loop(l, loop.dim, loop.bound, false);
    for (const SpatialLoop& loop : mapping.levels[l].spatial) add_loop(l, loop.dim, loop.bound, true);
  }
  std::vector<Count> tile(layer.dims.size(), 1);
  for (std::size_t i = loops_.size(); i-- > 0;) {
    loops_[i].step = tile[loops_[i].dim];
    tile[loops_[i].dim] *= loops_[i].bound;
  }
  Mac start{Tuple(loops_.size(), 0), Tuple(layer.dims.size(), 0)};
  run_loop(0, start);
  // Spatial loops stand for copies at the same time: order the MACs by their temporal indices.
  for (Mac& mac : macs_) mac.time = time_of(mac, levels_);
  std::stable_sort(macs_.begin(), macs_.end(), [](const Mac& a, const Mac& b) { return a.time < b.time; });
  for (const Tensor& tensor : layer.tensors) {
    extents_.emplace_back();
    for (const Rank& rank : tensor.ranks) {
      Count extent = 1;
      for (const Term& term : rank.terms) extent += term.coefficient * (layer.dims[term.dim].size - 1);
      extents_.back().push_back(extent);
    }
  }
}

void ListedMacs::add_loop(int level, int dim, Count bound, bool spatial) {
  if (bound > 1) loops_.push_back({level, dim, bound, 1, spatial});
}

void ListedMacs::run_loop(std::size_t i, Mac& at) {
  if (i == loops_.size()) {
    macs_.push_back(at);
    return;
  }
  const NestLoop& loop = loops_[i];
  Count& coordinate = at.coords[loop.dim];
  const Count start = coordinate;
  for (at.index[i] = 0; at.index[i] < loop.bound && coordinate < layer_.dims[loop.dim].size; ++at.index[i]) {
    run_loop(i + 1, at);
    coordinate += loop.step;
  }
  at.index[i] = 0;
  coordinate = start;
}

Tuple ListedMacs::element(int x, const Tuple& coords) const {
  Tuple at;
  for (const Rank& rank : layer_.tensors[x].ranks) {
    Count value = 0;
    for (const Term& term : rank.terms) value += term.coefficient * coords[term.dim];
    at.push_back(value);
  }
  return at;
}

Key ListedMacs::element_key(int x, const Tuple& coords) const {
  Key key = 0;
  for (std::size_t r = 0; r < extents_[x].size(); ++r) {
    Count value = 0;
    for (const Term& term : layer_.tensors[x].ranks[r].terms) value += term.coefficient * coords[term.dim];
    key = key * extents_[x][r] + value;
  }
  return key;
}

Count ListedMacs::box_words(const std::set<Tuple>& elements) {
  Count words = 1;
  for (std::size_t r = 0; r < elements.begin()->size(); ++r) {
    Count low = (*elements.begin())[r], high = low;
    for (const Tuple& e : elements) {
      low = std::min(low, e[r]);
      high = std::max(high, e[r]);
    }
    words *= high - low + 1;
  }
  return words;
}

bool ListedMacs::slides(int x, int dim) const {
  int uses = 0;
  bool several = false;
  for (const Rank& rank : layer_.tensors[x].ranks)
    for (const Term& term : rank.terms)
      if (term.dim == dim) {
        ++uses;
        several = rank.terms.size() > 1;
      }
  return uses == 1 && several;
}

bool ListedMacs::plain(int x, int dim) const {
  int uses = 0;
  bool alone = true;
  for (const Rank& rank : layer_.tensors[x].ranks)
    for (const Term& term : rank.terms)
      if (term.dim == dim) {
        ++uses;
        alone &= rank.terms.size() == 1 && term.coefficient == 1;
      }
  return uses == 1 && alone;
}

}  // namespace pliant::reference
