// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/search/uneven_units.h"

#include <algorithm>
#include <limits>
#include <ranges>
#include <utility>

#include "core/legality.h"
#include "costmodel/nest.h"
#include "dse/mappers/exact/task/effort.h"
#include "flex/mapspace/factors.h"
#include "flex/mapspace/rules.h"

namespace pliant::exact {

namespace {

/// A value of at most so much of an earlier one is worth as many tries again.
constexpr double kWorthMore = 0.9;

constexpr auto kAllBounds = std::numeric_limits<std::ptrdiff_t>::max();

class UnevenUnits {
 public:
  UnevenUnits(const Task& task, const Problem& problem, Incumbent& best, std::uint64_t most_priced,
              SearchLimits& limits)
      : task_(task),
        rules_(task.layer, task.accelerator, task.flexibility, task.factorization),
        problem_(problem),
        nest_(problem),
        best_(best),
        most_priced_(most_priced),
        limits_(limits),
        renewed_at_(best.value) {}

  void run() {
    // Full sides first: where sizes are primes, the mapping that it starts with uses one unit of a chip.
    while (fill_all(1)) {
    }
    for (bool helped = true; helped;) {
      helped = fill_all(kAllBounds);
      helped |= resize_all();
    }
  }

 private:
  bool spent() const { return priced_ >= most_priced_ || limits_.expired(); }
  Count size(int d) const { return task_.layer.dims[static_cast<std::size_t>(d)].size; }

  static Count bound_of(const Mapping& mapping, int level, Side side, int d) {
    for (const SpatialLoop& loop : mapping.levels[static_cast<std::size_t>(level)].spatial)
      if (loop.dim == d && loop.side == side) return loop.bound;
    return 1;
  }
  static void set_bound(Mapping& mapping, int level, Side side, int d, Count bound) {
    std::vector<SpatialLoop>& loops = mapping.levels[static_cast<std::size_t>(level)].spatial;
    std::erase_if(loops, [&](const SpatialLoop& loop) { return loop.dim == d && loop.side == side; });
    if (bound == 1) return;
    const auto at = side == Side::kRows ? loops.begin() : loops.end();
    loops.insert(at, {d, bound, side});
  }
  static Count units_of(const Mapping& mapping, int level, Side side) {
    Count units = 1;
    for (const SpatialLoop& loop : mapping.levels[static_cast<std::size_t>(level)].spatial)
      if (loop.side == side) units *= loop.bound;
    return units;
  }

  /// From the innermost loop outwards: no bound is more than what is left, loops in time divide it, and the outermost
  /// memory takes the rest.
  void follow(Mapping& mapping, int d) const {
    Count left = size(d);
    for (int l = problem_.levels - 1; l >= 0; --l) {
      LevelMapping& level = mapping.levels[static_cast<std::size_t>(l)];
      for (const Side side : {Side::kCols, Side::kRows}) {
        const Count bound = bound_of(mapping, l, side, d);
        if (bound > left) set_bound(mapping, l, side, d, left);
        left = ceil_div(left, std::min(bound, left));
      }
      const bool outermost = l == rules_.memories.front().level;
      auto loop = std::ranges::find(level.temporal, d, &Loop::dim);
      if (loop == level.temporal.end()) {
        if (!outermost || left == 1) continue;
        loop = level.temporal.insert(level.temporal.begin(), {d, left});
      }
      while (!outermost && left % loop->bound != 0) --loop->bound;
      if (outermost) loop->bound = left;
      left /= loop->bound;
      if (loop->bound == 1) level.temporal.erase(loop);
    }
  }

  /// The units of a side get so much of a dim. Loops inside that leave them less give way, the outermost first.
  void give(Mapping& mapping, int level, Side side, int d, Count bound) const {
    const Mapping before = mapping;
    for (int cleared = level;; ++cleared) {
      mapping = before;
      set_bound(mapping, level, side, d, bound);
      for (int l = level + 1; l <= cleared; ++l)
        std::erase_if(mapping.levels[static_cast<std::size_t>(l)].temporal,
                      [&](const Loop& loop) { return loop.dim == d; });
      follow(mapping, d);
      if (bound_of(mapping, level, side, d) >= bound || cleared == problem_.levels - 1) return;
    }
  }

  /// Takes what is better and legal.
  bool attempt(Mapping mapping) {
    ++priced_;
    ++limits_.priced;
    limits_.effort += effort::kUnevenPrice;
    nest_.load(flatten(problem_, mapping));
    const Totals totals = nest_.price();
    const double value = task_value(task_, totals);
    if (!(value < best_.value * (1 - kRoundingOfSums))) return false;
    limits_.effort += effort::kChecking;
    if (!check_legality(task_.layer, task_.accelerator, task_.flexibility, task_.factorization, mapping).empty())
      return false;
    best_ = {std::move(mapping), totals, value};
    if (value < kWorthMore * renewed_at_) {
      renewed_at_ = value;
      priced_ = 0;
    }
    return true;
  }

  /// Of every dim the most units, or so many bounds.
  bool fill_all(std::ptrdiff_t most_bounds) {
    bool helped = false;
    for (const FanoutRules& fanout : rules_.fanouts)
      for (const Side side : {Side::kRows, Side::kCols}) helped |= fill(fanout, side, most_bounds);
    return helped && !spent();
  }
  bool resize_all() {
    bool helped = false;
    for (const MemoryRules& memory : rules_.memories) helped |= resize(memory);
    return helped && !spent();
  }

  /// One dim gets more or fewer units of a side; where these are too many another one gets fewer.
  bool fill(const FanoutRules& fanout, Side side, std::ptrdiff_t most_bounds) {
    const int l = fanout.level;
    bool helped = false;
    for (int d = 0; d < problem_.dims; ++d) {
      if (!fanout.may_run_over(side, d)) continue;
      for (const Count bound : bounds_by_rounds(size(d), fanout.longest(side)) | std::views::take(most_bounds)) {
        if (spent()) return helped;
        const Mapping& now = *best_.mapping;
        if (bound == bound_of(now, l, side, d)) continue;
        Mapping next = now;
        set_bound(next, l, side, d, bound);
        const Count most =
            side == Side::kRows ? fanout.longest(side) : fanout.columns_beside(units_of(next, l, Side::kRows));
        if (units_of(next, l, side) <= most) {
          give(next, l, side, d, bound);
          helped |= attempt(std::move(next));
          continue;
        }
        for (int e = 0; e < problem_.dims && !spent(); ++e) {
          const Count other = bound_of(next, l, side, e);
          const Count room = most / (units_of(next, l, side) / other);
          if (e == d || other == 1 || room == 0) continue;
          Mapping both = next;
          set_bound(both, l, side, e, room);
          follow(both, e);
          give(both, l, side, d, bound);
          if (!attempt(std::move(both))) continue;
          helped = true;
          break;
        }
      }
    }
    return helped;
  }

  /// Tiles of a memory along one dim, larger or smaller.
  bool resize(const MemoryRules& memory) {
    if (memory.level == rules_.memories.front().level) return false;
    bool helped = false;
    for (int d = 0; d < problem_.dims; ++d) {
      if (!contains(memory.may_loop, d)) continue;
      for (const Count bound : divisors(size(d))) {
        if (spent()) return helped;
        Mapping next = *best_.mapping;
        std::vector<Loop>& loops = next.levels[static_cast<std::size_t>(memory.level)].temporal;
        const auto loop = std::ranges::find(loops, d, &Loop::dim);
        if (bound == (loop == loops.end() ? 1 : loop->bound)) continue;
        if (loop == loops.end())
          loops.push_back({d, bound});
        else
          loop->bound = bound;
        follow(next, d);
        helped |= attempt(std::move(next));
      }
    }
    return helped;
  }

  /// Bounds of at most so many, the largest first: of those that leave the same rounds the smallest.
  static std::vector<Count> bounds_by_rounds(Count size, Count most) {
    std::vector<Count> all;
    for (Count rounds = ceil_div(size, most);; rounds = ceil_div(size, all.back() - 1)) {
      all.push_back(ceil_div(size, rounds));
      if (all.back() == 1) return all;
    }
  }

  const Task& task_;
  const MapSpaceRules rules_;
  const Problem& problem_;
  Nest nest_;
  Incumbent& best_;
  const std::uint64_t most_priced_;
  SearchLimits& limits_;
  /// Since the value that the allowance was last renewed at.
  std::uint64_t priced_ = 0;
  double renewed_at_;
};

}  // namespace

Incumbent with_uneven_units(const Task& task, const Problem& problem, Incumbent start, std::uint64_t most_priced,
                            SearchLimits& limits) {
  if (start.mapping) UnevenUnits(task, problem, start, most_priced, limits).run();
  return start;
}

}  // namespace pliant::exact
