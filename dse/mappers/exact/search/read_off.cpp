// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/search/read_off.h"

#include <algorithm>
#include <bit>

#include "core/legality.h"
#include "costmodel/bits.h"
#include "costmodel/nest.h"
#include "dse/mappers/exact/bounds/shared_capacity.h"
#include "dse/mappers/exact/task/effort.h"
#include "flex/mapspace/factors.h"

namespace pliant::exact {

namespace {

/// At most so many mappings of a choice are tried.
constexpr unsigned kMostTried = 8;

class TileReader {
 public:
  TileReader(const ResolvedTask& resolved, const UnrollingBounds& bounds, std::size_t keep_choice)
      : resolved_(resolved),
        p_(resolved.problem),
        spatial_(bounds.spatial()),
        bounds_(bounds),
        keeps_(bounds.choice_bounds().keeps(keep_choice)),
        tiles_(SharedCapacity(bounds).best_tiles(keep_choice)) {
    for (int d = 0; d < p_.dims; ++d) {
      Count units = 1;
      for (int l = 0; l < p_.levels; ++l) units *= spatial_.factor[l][d];
      iterations_[d] = spatial_.durations[d] > 0 ? spatial_.durations[d] : resolved.task.layer.dims[d].size / units;
    }
  }

  /// Dims whose tiles save nothing stay small, or in some memories (as bits) are as large as fits.
  Mapping read(unsigned large) {
    done_.fill(1);
    tile_.fill(1);
    int level = p_.levels;
    Mapping mapping;
    mapping.levels.resize(p_.accelerator.levels.size());
    for (std::size_t k = 0; k < resolved_.memories.size(); ++k) {
      while (--level > resolved_.memories[k]) pass_fanout(level, mapping);
      choose_bounds(k, contains(large, k));
      mapping.levels[level].keeps = keeps_[level];
      order_loops(k, mapping.levels[level].temporal);
      for (int d = 0; d < p_.dims; ++d) done_[d] *= bound_[d];
    }
    while (--level >= 0) pass_fanout(level, mapping);
    return mapping;
  }

  unsigned ways() const { return std::min(kMostTried, 1U << tiles_.size()); }

 private:
  void pass_fanout(int level, Mapping& mapping) {
    mapping.levels[level].spatial = spatial_.unrolling[level]->loops(p_.dims);
    for (int d = 0; d < p_.dims; ++d) tile_[d] *= static_cast<double>(spatial_.factor[level][d]);
  }

  bool fits(int level) const {
    return !resolved_.rules.memory(level).overflows(keeps_[level], [&](int x) {
      std::array<double, kMaxDims> tile{};
      for (int d = 0; d < p_.dims; ++d)
        tile[d] = std::min(p_.size[d], tile_[d] * static_cast<double>(done_[d] * bound_[d]));
      return words_of_tile(p_, x, tile);
    });
  }

  /// The largest factor of what is left of a dim, up to the most, that fits.
  void grow(std::size_t k, int d, Count most) {
    bound_[d] = 1;
    if (most == 1 || !contains(resolved_.may_loop[k], d)) return;
    const Count left = iterations_[d] / done_[d];
    bound_[d] = most;
    if (left % most == 0 && fits(resolved_.memories[k])) return;
    const std::vector<Count>& all = divisors(left);
    for (auto factor = all.rbegin(); factor != all.rend(); ++factor) {
      if (*factor > most) continue;
      bound_[d] = *factor;
      if (fits(resolved_.memories[k])) return;
    }
  }

  void choose_bounds(std::size_t k, bool large) {
    bound_.fill(1);
    if (k == tiles_.size()) {
      for (int d = 0; d < p_.dims; ++d) bound_[d] = iterations_[d] / done_[d];
      return;
    }
    const SharedCapacity::BestTile& tile = tiles_[k];
    for (const int d : members(tile.grown)) {
      const auto wanted = static_cast<Count>(static_cast<double>(iterations_[d]) / tile.left[d]);
      grow(k, d, std::max(Count{1}, wanted / done_[d]));
    }
    for (int d = 0; d < p_.dims && large; ++d)
      if (!contains(tile.grown, d)) grow(k, d, iterations_[d] / done_[d]);
  }

  void order_loops(std::size_t k, std::vector<Loop>& loops) const {
    DimSet left = 0;
    for (int d = 0; d < p_.dims; ++d)
      if (bound_[d] > 1) left |= only(d);
    const DimSet first = k > 0 ? tiles_[k - 1].first : 0;
    const MemoryOrders::Precedence& rule = resolved_.orders[k].precedences.front();
    while (left != 0) {
      const DimSet ready = rule.ready(left);
      const DimSet next = (ready & first) != 0 ? ready & first : ready != 0 ? ready : left;
      const int d = std::countr_zero(next);
      loops.insert(loops.begin(), {d, bound_[d]});
      left &= ~(only(d));
    }
  }

  const ResolvedTask& resolved_;
  const Problem& p_;
  const Spatial& spatial_;
  const UnrollingBounds& bounds_;
  const Keeps keeps_;
  const std::vector<SharedCapacity::BestTile> tiles_;
  std::array<Count, kMaxDims> iterations_{}, done_{}, bound_{};  // in time: all, of memories inside, of this one
  std::array<double, kMaxDims> tile_{};                          // of the units inside
};

}  // namespace

void read_off(const ResolvedTask& resolved, const UnrollingBounds& bounds, std::size_t keep_choice, double bound,
              Incumbent& incumbent, SearchLimits& limits) {
  const Task& task = resolved.task;
  TileReader reader(resolved, bounds, keep_choice);
  Nest nest(resolved.problem);
  std::vector<Incumbent> better;
  for (unsigned large = 0; large < reader.ways(); ++large) {
    Mapping mapping = reader.read(large);
    ++limits.priced;
    limits.effort += effort::kReadOff;
    nest.load(flatten(resolved.problem, mapping));
    const Totals totals = nest.price();
    const double value = task_value(task, totals);
    if (value < incumbent.value) better.push_back({std::move(mapping), totals, value});
    if (no_better(bound, value)) break;
  }
  std::sort(better.begin(), better.end(), [](const Incumbent& a, const Incumbent& b) { return a.value < b.value; });
  for (Incumbent& one : better) {
    if (!check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, *one.mapping).empty())
      continue;
    incumbent = std::move(one);
    return;
  }
}

}  // namespace pliant::exact
