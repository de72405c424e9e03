// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/chain/iterations.h"

#include <algorithm>
#include <cmath>

#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/task/tolerances.h"

namespace pliant::exact {

namespace {

struct Unrolled {
  Count bound;
  bool counted;
};

/// Loops over a dim at the fanouts between two levels, innermost first; columns lie inside rows.
std::vector<Unrolled> unrolled_between(const Spatial& spatial, int d, int outside, int inside, std::uint32_t counted) {
  std::vector<Unrolled> loops;
  for (int l = inside - 1; l > outside; --l) {
    if (spatial.factor[l][d] == 1) continue;
    for (const Count bound : {spatial.unrolling[l]->cols[d], spatial.unrolling[l]->rows[d]})
      if (bound > 1) loops.push_back({bound, contains(counted, l)});
  }
  return loops;
}

/// By state of memory k, the fewest iterations of the counted fanouts inside it that the dim's last tile has. A tile of
/// n iterations left is met n-1 times in full. The last one ends with the dim: the round that ends it has
/// r = left inside - (n - 1) * bound iterations at the next loop inside. A counted loop has r - 1 full ones and the
/// last; where one that is not counted has more than one, the first of them is full.
std::vector<double> fewest_in_last_tile(const ResolvedTask& resolved, const Spatial& spatial, const Chain& chain, int d,
                                        int k, std::uint32_t counted) {
  std::vector<double> fewest{1};
  std::vector<Axis::State> inside{{1, resolved.task.layer.dims[d].size}};
  double full = 1;
  int level = resolved.problem.levels;
  for (int j = 0; j <= k; ++j) {
    const Axis& axis = chain[static_cast<std::size_t>(j)];
    const auto loops = unrolled_between(spatial, d, resolved.memories[j], level, counted);
    std::vector<double> entered(axis.states.size(), kInfinity);
    for (std::size_t i = 0; i < inside.size(); ++i) {
      if (axis.from_inside[i] < 0) continue;
      Count left = inside[i].left;
      double last = fewest[i], whole = full;
      for (const Unrolled& loop : loops) {
        const Count after = ceil_div(left, loop.bound), round = left - (after - 1) * loop.bound;
        if (loop.counted)
          last += static_cast<double>(round - 1) * whole, whole *= static_cast<double>(loop.bound);
        else if (round > 1)
          last = whole;
        left = after;
      }
      double& target = entered[static_cast<std::size_t>(axis.from_inside[i])];
      target = std::min(target, last);
    }
    for (const Unrolled& loop : loops)
      if (loop.counted) full *= static_cast<double>(loop.bound);
    // The memory's own loop, if any: inside the node, so not counted.
    fewest.assign(axis.states.size(), full);
    for (std::size_t s = 0; s < axis.states.size() && full > 1; ++s) {
      for (const int b : axis.below(static_cast<int>(s))) {
        const Axis::State &from = axis.states[static_cast<std::size_t>(b)], &to = axis.states[s];
        if (from.left - (to.left - 1) * (to.tile / from.tile) == 1 || b == static_cast<int>(s))
          fewest[s] = std::min(fewest[s], entered[static_cast<std::size_t>(b)]);
      }
    }
    inside = axis.states;
    level = resolved.memories[j];
  }
  return fewest;
}

/// Counted units of a dim inside a node: all of them, and those that work whatever the remainders. Units outside it
/// that are served as one.
struct CountedUnits {
  Count shared;
  double full, certain;
};

/// By group of tiles, at least so many whichever of its tiles the node has. Every bound of a fanout finds at least so
/// many iterations, so in the first iteration of all loops outside its units work, and all units inside all of them
/// but the last. And each of the dim's iterations belongs to one of those counted, which holds at most what the loops
/// that do not count make of it: tile * shared / full. Both fall with the tile.
std::vector<double> fewest_of_groups(const Axis& axis, double size, const CountedUnits& units) {
  std::vector<double> fewest;
  for (std::size_t s = 0; s < axis.states.size(); ++s) {
    const auto outside = static_cast<double>(ceil_div(axis.states[s].left, units.shared));
    const double held = static_cast<double>(axis.largest[s]) * static_cast<double>(units.shared) / units.full;
    const double covering = std::ceil(size / held * (1 - kRoundingOfSums));
    const double counted = outside == 1 ? units.certain : (outside - 1) * units.full + 1;
    fewest.push_back(at_least<"L12.2">(std::max(counted, covering), 1));
  }
  return fewest;
}

}  // namespace

std::vector<double> fewest_iterations(const ResolvedTask& resolved, const Spatial& spatial, const Chain& chain, int d,
                                      int k, std::uint32_t shared_outside, std::uint32_t counted_inside) {
  Count shared = 1;
  double full = 1;
  const int levels = resolved.problem.levels;
  for (const Unrolled& loop : unrolled_between(spatial, d, -1, levels, shared_outside))
    if (loop.counted) shared *= loop.bound;
  for (const Unrolled& loop : unrolled_between(spatial, d, -1, levels, counted_inside))
    if (loop.counted) full *= static_cast<double>(loop.bound);
  if (chain[static_cast<std::size_t>(k)].grouped()) {
    double certain = 1, inside = 1;
    for (const Unrolled& loop : unrolled_between(spatial, d, -1, levels, counted_inside)) {
      if (!loop.counted) continue;
      certain = static_cast<double>(loop.bound - 1) * inside + 1;
      inside *= static_cast<double>(loop.bound);
    }
    return fewest_of_groups(chain[static_cast<std::size_t>(k)], resolved.problem.size[d], {shared, full, certain});
  }
  std::vector<double> last;
  if (full > 1 && shared == 1) last = fewest_in_last_tile(resolved, spatial, chain, d, k, counted_inside);
  std::vector<double> fewest;
  const std::vector<Axis::State>& states = chain[static_cast<std::size_t>(k)].states;
  for (std::size_t s = 0; s < states.size(); ++s) {
    // An iteration counted outside stands for at most `shared` tiles, whatever loops lie between. All of these but the
    // last have full tiles inside. (Where tiles are shared the last is taken to have one unit only: then fewer
    // iterations left never count for more, which the search relies on.)
    const auto outside = static_cast<double>(ceil_div(states[s].left, shared));
    const double in_last = last.empty() ? 1 : at_least<"L5.3">(last[s], 1);
    fewest.push_back(at_least<"L5.2">((outside - 1) * full + in_last, 1));
  }
  return fewest;
}

}  // namespace pliant::exact
