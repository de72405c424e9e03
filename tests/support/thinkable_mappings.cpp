// SPDX-License-Identifier: Apache-2.0
#include "support/thinkable_mappings.h"

#include <algorithm>
#include <vector>

#include "core/legality.h"

namespace pliant::tests {

namespace {

/// A place for a loop of a dim: a memory, or a side of a fanout.
struct LoopPlace {
  std::size_t level = 0;
  bool in_space = false;
  Side side = Side::kRows;
};

/// The bounds of one dim, by place.
using Bounds = std::vector<Count>;

class Thinkable {
 public:
  explicit Thinkable(const Task& task) : task_(task) {
    for (std::size_t l = 0; l < task.accelerator.levels.size(); ++l) {
      const Level& level = task.accelerator.levels[l];
      if (level.is_memory()) places_.push_back({l, false, Side::kRows});
      for (const Side side : {Side::kRows, Side::kCols})
        if (level.is_fanout()) places_.push_back({l, true, side});
    }
  }

  bool run(double most, const std::function<void(const Mapping&)>& visit) {
    double all = 1;
    for (std::size_t d = 0; d < task_.layer.dims.size(); ++d) {
      double tuples = 1;
      for (std::size_t i = 0; i < places_.size(); ++i) tuples *= static_cast<double>(task_.layer.dims[d].size);
      if (tuples > most) return false;
      list_chains(d);
      all *= static_cast<double>(chains_.back().size());
    }
    for (const Level& level : task_.accelerator.levels)
      if (level.is_memory()) all *= static_cast<double>(std::size_t{1} << task_.layer.tensors.size());
    if (all > most) return false;
    chosen_.assign(task_.layer.dims.size(), nullptr);
    choose(0, visit);
    return true;
  }

 private:
  /// Bounds that the checker has nothing against as a chain, whatever it says of their tiles: all numbers are tried.
  void list_chains(std::size_t d) {
    std::vector<Bounds>& chains = chains_.emplace_back();
    Bounds bounds(places_.size(), 1);
    const auto next = [&](auto&& self, std::size_t i) -> void {
      if (i < bounds.size()) {
        for (Count n = 1; n <= task_.layer.dims[d].size; ++n) {
          bounds[i] = n;
          self(self, i + 1);
        }
        return;
      }
      Mapping alone = empty_mapping(task_.layer, task_.accelerator);
      for (std::size_t other = 0; other < task_.layer.dims.size(); ++other)
        if (other != d) place(alone, other, whole(other));
      place(alone, d, bounds);
      pad(alone);
      const std::string& name = task_.layer.dims[d].name;
      const auto found = check_legality(task_.layer, task_.accelerator, task_.flexibility, task_.factorization, alone);
      if (std::ranges::none_of(found, [&](const Violation& one) {
            return one.dim == name &&
                   (one.rule == Violation::Rule::kFactorization || one.rule == Violation::Rule::kCoverage);
          }))
        chains.push_back(bounds);
    };
    next(next, 0);
  }

  Bounds whole(std::size_t d) const {
    Bounds bounds(places_.size(), 1);
    for (std::size_t i = 0; i < places_.size(); ++i)
      if (!places_[i].in_space) {
        bounds[i] = task_.layer.dims[d].size;
        break;
      }
    return bounds;
  }

  void place(Mapping& mapping, std::size_t d, const Bounds& bounds) const {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (bounds[i] == 1) continue;
      LevelMapping& level = mapping.levels[places_[i].level];
      if (places_[i].in_space)
        level.spatial.push_back({static_cast<int>(d), bounds[i], places_[i].side});
      else
        level.temporal.push_back({static_cast<int>(d), bounds[i]});
    }
  }

  /// With padding a mapping says what it pads to: the next multiple of what is spread.
  void pad(Mapping& mapping) const {
    mapping.padded.clear();
    if (task_.factorization != Factorization::kPadding) return;
    for (std::size_t d = 0; d < task_.layer.dims.size(); ++d) {
      Count spread = 1;
      for (const LevelMapping& level : mapping.levels)
        for (const SpatialLoop& loop : level.spatial)
          if (loop.dim == static_cast<int>(d)) spread *= loop.bound;
      Count padded = spread;
      while (padded < task_.layer.dims[d].size) padded += spread;
      mapping.padded.push_back(padded);
    }
  }

  void choose(std::size_t d, const std::function<void(const Mapping&)>& visit) {
    if (d < chains_.size()) {
      for (const Bounds& bounds : chains_[d]) {
        chosen_[d] = &bounds;
        choose(d + 1, visit);
      }
      return;
    }
    Mapping mapping = empty_mapping(task_.layer, task_.accelerator);
    for (std::size_t dim = 0; dim < chosen_.size(); ++dim) place(mapping, dim, *chosen_[dim]);
    pad(mapping);
    keep(mapping, 0, visit);
  }

  void keep(Mapping& mapping, std::size_t l, const std::function<void(const Mapping&)>& visit) const {
    if (l == mapping.levels.size()) {
      order(mapping, 0, visit);
      return;
    }
    const bool memory = task_.accelerator.levels[l].is_memory();
    for (TensorSet kept = 0; kept < (memory ? TensorSet{1} << task_.layer.tensors.size() : TensorSet{1}); ++kept) {
      mapping.levels[l].keeps = kept;
      keep(mapping, l + 1, visit);
    }
  }

  void order(Mapping& mapping, std::size_t l, const std::function<void(const Mapping&)>& visit) const {
    if (l == mapping.levels.size()) {
      if (check_legality(task_.layer, task_.accelerator, task_.flexibility, task_.factorization, mapping).empty())
        visit(mapping);
      return;
    }
    std::vector<Loop>& loops = mapping.levels[l].temporal;
    const auto by_dim = [](const Loop& a, const Loop& b) { return a.dim < b.dim; };
    std::ranges::sort(loops, by_dim);
    do order(mapping, l + 1, visit);
    while (std::next_permutation(loops.begin(), loops.end(), by_dim));
  }

  const Task& task_;
  std::vector<LoopPlace> places_;
  std::vector<std::vector<Bounds>> chains_;  ///< by dim
  std::vector<const Bounds*> chosen_;
};

}  // namespace

bool for_each_thinkable_mapping(const Task& task, double most, const std::function<void(const Mapping&)>& visit) {
  return Thinkable(task).run(most, visit);
}

}  // namespace pliant::tests
