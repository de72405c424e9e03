// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/enumerate.h"

#include <algorithm>
#include <span>

#include "flex/mapspace/rules.h"

namespace pliant {

namespace {

class Enumeration {
 public:
  Enumeration(const MapSpaceRules& rules, const std::function<bool(const Mapping&)>& visit)
      : rules_(rules), visit_(visit), mapping_(empty_mapping(rules.layer, rules.accelerator)) {
    if (padding())
      for (const Dim& dim : rules.layer.dims) mapping_.padded.push_back(dim.size);
  }

  bool run() { return choose_chain(0); }

 private:
  bool padding() const { return rules_.factorization == Factorization::kPadding; }

  bool choose_chain(std::size_t d) {
    if (d == rules_.layer.dims.size()) return choose_order(0);
    const Count size = rules_.layer.dims[d].size;
    return for_each_chain(size, rules_.slots[d], rules_.factorization, [&](std::span<const Count> bounds) {
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
      product *= padding() ? bounds[s] : 1;
      if (bounds[s] == 1) continue;
      const Slot& slot = rules_.slots[d][s];
      LevelMapping& level = mapping_.levels[static_cast<std::size_t>(slot.level)];
      if (slot.spatial) {
        level.spatial.push_back({dim, bounds[s], slot.side});
      } else {
        level.temporal.push_back({dim, bounds[s]});
      }
    }
    if (padding()) mapping_.padded[d] = product;
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
    if (!rules_.is_memory(static_cast<int>(k))) return choose_kept(k + 1);
    for (const TensorSet kept : rules_.memory(static_cast<int>(k)).keeps) {
      mapping_.levels[k].keeps = kept;
      if (!choose_kept(k + 1)) return false;
    }
    return true;
  }

  const MapSpaceRules& rules_;
  const std::function<bool(const Mapping&)>& visit_;
  Mapping mapping_;
};

}  // namespace

bool for_each_mapping(const Layer& layer, const Accelerator& accelerator, const Flexibility& flexibility,
                      Factorization rule, const std::function<bool(const Mapping&)>& visit) {
  const MapSpaceRules rules(layer, accelerator, flexibility, rule);
  return Enumeration(rules, visit).run();
}

}  // namespace pliant
