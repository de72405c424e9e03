// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/enumerate.h"

#include <algorithm>
#include <span>

#include "flex/mapspace/count.h"
#include "flex/mapspace/factors.h"

namespace pliant {

namespace {

class Enumeration {
 public:
  Enumeration(const Layer& layer, const Accelerator& accelerator, const Flexibility& flexibility, Factorization rule,
              const std::function<bool(const Mapping&)>& visit)
      : layer_(layer), accelerator_(accelerator), rule_(rule), visit_(visit) {
    mapping_ = empty_mapping(layer, accelerator);
    for (std::size_t d = 0; d < layer.dims.size(); ++d)
      slots_.push_back(slots_of(layer, accelerator, flexibility, static_cast<int>(d)));
    if (rule == Factorization::kPadding)
      for (const Dim& dim : layer.dims) mapping_.padded.push_back(dim.size);
  }

  bool run() { return choose_chain(0); }

 private:
  bool choose_chain(std::size_t d) {
    if (d == layer_.dims.size()) return choose_order(0);
    return for_each_chain(layer_.dims[d].size, slots_[d].slots, rule_, [&](std::span<const Count> bounds) {
      place(d, bounds);
      const bool go_on = choose_chain(d + 1);
      remove(d);
      return go_on;
    });
  }

  void place(std::size_t d, std::span<const Count> bounds) {
    const int dim = static_cast<int>(d);
    Count product = 1;
    for (std::size_t s = 0; s < bounds.size(); ++s) {
      product *= rule_ == Factorization::kPadding ? bounds[s] : 1;
      if (bounds[s] == 1) continue;
      LevelMapping& level = mapping_.levels[static_cast<std::size_t>(slots_[d].levels[s])];
      if (slots_[d].slots[s].spatial) {
        level.spatial.push_back({dim, bounds[s], slots_[d].sides[s]});
      } else {
        level.temporal.push_back({dim, bounds[s]});
      }
    }
    if (rule_ == Factorization::kPadding) mapping_.padded[d] = product;
  }

  void remove(std::size_t d) {
    const auto of_dim = [dim = static_cast<int>(d)](const auto& loop) { return loop.dim == dim; };
    for (LevelMapping& level : mapping_.levels) {
      std::erase_if(level.temporal, of_dim);
      std::erase_if(level.spatial, of_dim);
    }
  }

  bool choose_order(std::size_t k) {
    if (k == mapping_.levels.size()) return choose_kept(0);
    const std::vector<Loop> as_placed = mapping_.levels[k].temporal;
    std::vector<std::size_t> order(as_placed.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    bool go_on = true;
    do {
      for (std::size_t i = 0; i < order.size(); ++i) mapping_.levels[k].temporal[i] = as_placed[order[i]];
      go_on = choose_order(k + 1);
    } while (go_on && std::next_permutation(order.begin(), order.end()));
    mapping_.levels[k].temporal = as_placed;
    return go_on;
  }

  bool choose_kept(std::size_t k) {
    if (k == mapping_.levels.size()) return visit_(mapping_);
    if (!accelerator_.levels[k].is_memory()) return choose_kept(k + 1);
    for (const TensorSet kept : keep_choices(layer_, accelerator_, static_cast<int>(k))) {
      mapping_.levels[k].keeps = kept;
      if (!choose_kept(k + 1)) return false;
    }
    return true;
  }

  const Layer& layer_;
  const Accelerator& accelerator_;
  const Factorization rule_;
  const std::function<bool(const Mapping&)>& visit_;
  std::vector<DimSlots> slots_;
  Mapping mapping_;
};

}  // namespace

bool for_each_mapping(const Layer& layer, const Accelerator& accelerator, const Flexibility& flexibility,
                      Factorization rule, const std::function<bool(const Mapping&)>& visit) {
  return Enumeration(layer, accelerator, flexibility, rule, visit).run();
}

}  // namespace pliant
