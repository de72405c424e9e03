// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/chain/groups.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "dse/mappers/exact/task/facts.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/task/tolerances.h"

namespace pliant::exact {

namespace {

/// How far the iterations left may differ within a group, the narrowest first.
constexpr std::array kRatios{1.0, 1.01, 1.02, 1.04, 1.07, 1.1, 1.15, 1.22, 1.35, 1.5, 1.75, 2.0, 3.0, 5.0, 10.0, 1e3};

Count rounds_left(Count size, Count spread, Count time) { return ceil_div(size, spread * time); }

/// The groups of one dim at all memories.
class GroupedChain {
 public:
  GroupedChain(const ResolvedTask& resolved, const Spatial& spatial, const LargestTiles& largest, int d)
      : rules_(resolved.rules),
        largest_(largest),
        d_(d),
        size_(resolved.task.layer.dims[static_cast<std::size_t>(d)].size),
        stages_(static_cast<int>(resolved.memories.size())) {
    // From the inside out: units inside each memory. From the outside in: the fewest iterations that the fanouts
    // outside must find left, each at least as many as its bound.
    std::vector<std::vector<Count>> outside(static_cast<std::size_t>(stages_));
    Count units = 1;
    for (int k = 0, inside = resolved.problem.levels; k < stages_; inside = resolved.memories[k++]) {
      for (int l = inside - 1; l > resolved.memories[k]; --l)
        for (const Count bound : {spatial.unrolling[l]->cols[d], spatial.unrolling[l]->rows[d]}) {
          if (bound == 1) continue;
          units *= bound;
          (k > 0 ? outside[static_cast<std::size_t>(k - 1)] : before_).push_back(bound);
        }
      spread_.push_back(units);
    }
    needed_.assign(static_cast<std::size_t>(stages_), 1);
    for (int k = stages_ - 2; k >= 0; --k) needed_[k] = needed_before(outside[k], needed_[k + 1]);
    start_needs_ = needed_before(before_, needed_[0]);
  }

  const std::vector<Count>& spread() const { return spread_; }

  /// Empty when the dim cannot be completed.
  Chain build(const std::vector<TimeRange>& ranges) {
    if (size_ < start_needs_) return {};
    const auto n = static_cast<int>(ranges.size());
    std::vector<Level> levels(static_cast<std::size_t>(stages_));
    std::vector<char> entered(static_cast<std::size_t>(n));
    entered[0] = 1;
    for (int k = 0; k < stages_; ++k) {
      Level& level = levels[k];
      limit(k, ranges, level);
      level.reached.assign(static_cast<std::size_t>(n), 0);
      for (int i = 0; i < n; ++i) {
        if (!entered[i] || level.last[i] < ranges[i].first) continue;
        for (int j = i; j < n; ++j)
          if (level.last[j] >= ranges[j].first && leads(k, ranges, level, i, j)) level.reached[j] = 1;
      }
      entered = level.reached;
    }
    std::vector<char> useful(static_cast<std::size_t>(n), 1);
    for (int k = stages_ - 1; k >= 0; --k) drop_dead_ends(k, ranges, levels[k], useful);
    Chain chain(static_cast<std::size_t>(stages_));
    for (int k = 0; k < stages_; ++k) {
      fill(k, ranges, levels[k], chain[k]);
      if (chain[k].states.empty()) return {};
      if (k == 0) {
        chain[0].from_inside = {levels[0].number[0]};
        if (levels[0].number[0] < 0) return {};
        chain[0].start = levels[0].number[0];
        continue;
      }
      for (int i = 0; i < n; ++i)
        if (levels[k - 1].number[i] >= 0) chain[k].from_inside.push_back(levels[k].number[i]);
    }
    return chain;
  }

 private:
  /// By range, what one memory makes of it.
  struct Level {
    std::vector<Count> last;          // the most iterations in time that the memory and the fanouts outside it allow
    std::vector<char> reached, ends;  // some loops lead to it; it may be held here and lead to the end
    std::vector<int> number;          // among the states that are kept, or -1
  };

  const MemoryRules& memory(int k) const { return rules_.memories[static_cast<std::size_t>(stages_ - 1 - k)]; }
  bool loops_at(int k) const { return contains(memory(k).may_loop, d_); }

  /// The fewest iterations left of which these fanouts, innermost first, each find their bound and leave so many.
  static Count needed_before(const std::vector<Count>& bounds, Count needed) {
    for (auto bound = bounds.rbegin(); bound != bounds.rend(); ++bound)
      needed = needed == 1 ? *bound : *bound * (needed - 1) + 1;
    return needed;
  }

  void limit(int k, const std::vector<TimeRange>& ranges, Level& level) const {
    const Count units = spread_[k];
    // A loop has no more rounds than it finds: without its last one it does not complete the dim, so no tile is twice
    // as large as the dim.
    Count most = (2 * size_ - 1) / units;
    if (needed_[k] > 1) most = std::min(most, (size_ - 1) / (units * (needed_[k] - 1)));
    most = std::min(most, largest_[k] / units);
    for (const TimeRange& range : ranges) level.last.push_back(std::min(range.last, most));
  }

  /// May a loop of memory k lead from a tile of one range to a tile of another? Every range leads to itself.
  bool leads(int k, const std::vector<TimeRange>& ranges, const Level& level, int i, int j) const {
    if (i == j) return true;
    if (!loops_at(k)) return false;
    const Count units = spread_[k], first = ranges[i].first, last = level.last[i];
    const Count to_first = ranges[j].first, to_last = level.last[j];
    for (Count bound = std::max<Count>(2, ceil_div(to_first, last)); bound <= to_last / first; ++bound) {
      const Count time = std::max(first, ceil_div(to_first, bound));
      if (units * time * (bound - 1) >= size_) {  // no more rounds than it finds
        if (time == first) return false;
        continue;
      }
      if (time <= std::min(last, to_last / bound)) return true;
    }
    return false;
  }

  bool may_end(int k, Count first, Count last) const {
    const Count fixed = rules_.fixed_tile(memory(k), d_, size_), units = spread_[k];
    if (fixed != 0 && (std::min(units * first, size_) > fixed || std::min(units * last, size_) < fixed)) return false;
    return k + 1 < stages_ || rounds_left(size_, units, last) == 1;
  }

  void drop_dead_ends(int k, const std::vector<TimeRange>& ranges, Level& level, std::vector<char>& useful) const {
    const int n = static_cast<int>(ranges.size());
    level.ends.assign(static_cast<std::size_t>(n), 0);
    for (int j = 0; j < n; ++j)
      level.ends[j] = level.reached[j] && useful[j] && may_end(k, ranges[j].first, level.last[j]) ? 1 : 0;
    level.number.assign(static_cast<std::size_t>(n), -1);
    int count = 0;
    for (int i = 0; i < n; ++i) {
      bool alive = false;
      for (int j = i; j < n && level.reached[i] && !alive; ++j) alive = level.ends[j] && leads(k, ranges, level, i, j);
      if (alive) level.number[i] = count++;
      useful[i] = alive ? 1 : 0;
    }
  }

  void fill(int k, const std::vector<TimeRange>& ranges, const Level& level, Axis& axis) const {
    const int n = static_cast<int>(ranges.size());
    const Count units = spread_[k];
    axis.unit = units;
    for (int j = 0; j < n; ++j) {
      if (level.number[j] < 0) continue;
      const Count left = std::max(needed_[k], rounds_left(size_, units, level.last[j]));
      axis.states.push_back(
          {units * ranges[j].first, static_cast<Count>(at_least<"L12.1">(static_cast<double>(left), 1))});
      axis.left.push_back(static_cast<double>(axis.states.back().left));
      axis.largest.push_back(units * level.last[j]);
      axis.may_end.push_back(level.ends[j] != 0);
      axis.first_leading.push_back(static_cast<int>(axis.leading.size()));
      for (int i = 0; i <= j; ++i) {
        if (level.number[i] < 0 || !leads(k, ranges, level, i, j)) continue;
        axis.leading.push_back(level.number[i]);
        if (i < j) axis.edges.emplace_back(level.number[i], level.number[j]);
      }
    }
    axis.first_leading.push_back(static_cast<int>(axis.leading.size()));
  }

  const MapSpaceRules& rules_;
  const LargestTiles& largest_;
  const int d_;
  const Count size_;
  const int stages_;
  std::vector<Count> before_;           // bounds of the fanouts inside the innermost memory
  std::vector<Count> spread_, needed_;  // by memory
  Count start_needs_ = 1;
};

}  // namespace

std::vector<TimeRange> time_ranges(Count size, const std::vector<Count>& spread, double ratio) {
  const Count complete = ceil_div(size, spread.back());
  std::vector<Count> firsts{complete};
  for (std::size_t k = 0; k < spread.size(); ++k) {
    const Count units = spread[k];
    if (k > 0 && units == spread[k - 1]) continue;
    for (Count first = 1; first < complete;) {
      firsts.push_back(first);
      const auto fewest =
          std::max<Count>(2, static_cast<Count>(std::ceil(static_cast<double>(rounds_left(size, units, first)) / ratio -
                                                          kRoundingOfFloors)));
      first = (size - 1) / (units * (fewest - 1)) + 1;
    }
  }
  std::sort(firsts.begin(), firsts.end());
  firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
  std::vector<TimeRange> ranges;
  for (std::size_t i = 0; i + 1 < firsts.size(); ++i) ranges.push_back({firsts[i], firsts[i + 1] - 1});
  ranges.push_back({firsts.back(), 2 * size});
  return ranges;
}

bool may_group_tiles(const ResolvedTask& resolved) {
  const Problem& p = resolved.problem;
  if (!may_be_imperfect(resolved.rules.factorization, false) || resolved.compute_runs) return false;
  if (p.conventions.first_time == Conventions::FirstTime::kPerSweep && !p.affine[p.output].empty()) return false;
  for (int x = 0; x < p.tensors; ++x) {
    for (const Problem::AffineRank& rank : p.affine[x]) {
      const DimSet together = dims_of_windows(p, x, rank);
      for (const Problem::AffineRank& other : p.affine[x])
        if (&other != &rank && (other.dims & together) != 0) return false;
    }
  }
  return true;
}

GroupedAxes build_grouped_axes(const ResolvedTask& resolved, const Spatial& spatial, const Keeps& keeps, double nodes) {
  const int dims = resolved.problem.dims;
  std::vector<LargestTiles> largest;
  std::vector<GroupedChain> builders;
  largest.reserve(static_cast<std::size_t>(dims));
  for (int d = 0; d < dims; ++d) {
    largest.push_back(largest_tiles(resolved.rules, resolved.problem, keeps, d));
    builders.emplace_back(resolved, spatial, largest.back(), d);
  }
  std::vector<std::vector<TimeRange>> ranges(static_cast<std::size_t>(dims));
  const auto fits = [&](double ratio) {
    double all = 1;
    for (int d = 0; d < dims && all <= nodes; ++d) {
      ranges[d] = time_ranges(resolved.task.layer.dims[static_cast<std::size_t>(d)].size, builders[d].spread(), ratio);
      all *= static_cast<double>(ranges[d].size());
    }
    return all <= nodes;
  };
  // Narrower groups are more, so the narrowest that fit are found by halving.
  const auto* const found = std::partition_point(kRatios.begin(), kRatios.end(), [&](double r) { return !fits(r); });
  if (found == kRatios.end()) return {};
  const double used = *found;
  fits(used);
  Axes axes;
  for (int d = 0; d < dims; ++d) {
    // As the chains of single tiles, by what they depend on: other dims' ranges do not matter.
    std::vector<Count> key{d, -static_cast<Count>(std::lround(1000 * used))};
    for (std::size_t k = 0; k < resolved.memories.size(); ++k) key.push_back(largest[d][k]);
    for (int l = 0; l < resolved.problem.levels; ++l) {
      if (resolved.problem.is_memory[l]) continue;
      key.push_back(spatial.unrolling[l]->rows[d]);
      key.push_back(spatial.unrolling[l]->cols[d]);
    }
    const std::optional<Chain>& chain =
        resolved.axis_cache.get().chain(key, [&] { return builders[d].build(ranges[d]); });
    if (chain->empty()) return {Axes{}, used};
    axes.push_back(&*chain);
  }
  return {std::move(axes), used};
}

}  // namespace pliant::exact
