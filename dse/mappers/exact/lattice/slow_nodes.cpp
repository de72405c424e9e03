// SPDX-License-Identifier: Apache-2.0
// How many steps a mapping takes at least that passes a node: where loops and units both leave remainders, the tile
// inside a fanout decides how many of its rounds are short.
#include <algorithm>

#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "dse/mappers/exact/lattice/lattice.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/words/kernels.h"
#include "dse/mappers/exact/words/windows.h"

namespace pliant::exact {

namespace {

/// Tiles of one group that are looked at one by one.
constexpr Count kMostTilesOfAGroup = 4096;

/// Steps of a dim in tiles of `time` on some units: every round but the last takes as long as a tile, the last one as
/// long as its first tile, which may be short.
Count steps_of(Count size, Count units, Count time) {
  const Count before_last = ceil_div(size, units * time) - 1;
  return before_last * time + std::min(time, size - before_last * units * time);
}

/// The fewest over some tiles; beyond those that complete the dim in one round larger ones take no fewer.
Count fewest_steps(Count size, Count units, Count first, Count last) {
  const Count fewest = ceil_div(size, units);
  last = std::min(last, std::max(first, fewest));
  if (last - first >= kMostTilesOfAGroup) return fewest;
  Count least = steps_of(size, units, first);
  for (Count time = first + 1; time <= last && least > fewest; ++time)
    least = std::min(least, steps_of(size, units, time));
  return static_cast<Count>(at_least<"L13.1">(static_cast<double>(least), static_cast<double>(fewest)));
}

}  // namespace

bool Lattice::knows_slow_nodes() const {
  return may_be_imperfect(resolved_.task.factorization, true) && may_be_imperfect(resolved_.task.factorization, false);
}

void Lattice::count_steps(int k) const {
  const Problem& p = resolved_.problem;
  Box& box = boxes_[k];
  const int inside = resolved_.memories[k], outside = resolved_.memories[k + 1];
  std::array<std::vector<double>, kMaxDims> shares;
  std::vector<Factor> factors;
  for (int d = 0; d < p.dims; ++d) {
    const auto units = static_cast<Count>(spatial_between(spatial_, only(d), outside, inside));
    // Where the dim is spread elsewhere as well, nothing but the fewest is known.
    if (units == 1 || spatial_between(spatial_, only(d), -1, p.levels) != static_cast<double>(units)) continue;
    const auto size = static_cast<Count>(p.size[d]);
    const Axis& axis = this->axis(k, d);
    for (std::size_t s = 0; s < axis.states.size(); ++s) {
      const Count tile = axis.states[s].tile;
      const Count steps = fewest_steps(size, units, tile, axis.grouped() ? axis.largest[s] : tile);
      shares[d].push_back(static_cast<double>(steps) / static_cast<double>(ceil_div(size, units)));
    }
    if (std::ranges::all_of(shares[d], [](double share) { return share == 1; })) continue;
    Factor factor;
    factor.stride[d] = 1;
    factor.values = shares[d].data();
    factors.push_back(factor);
  }
  if (factors.empty()) return;
  work(static_cast<std::uint64_t>(box.size));
  box.steps = Array(store_, static_cast<std::size_t>(box.size), 0);
  add_product(fastest_first_, box.extent, costs_.steps(), factors, box.steps.data());
}

bool Lattice::leave_out_from(double steps) {
  if (!knows_slow_nodes()) return false;
  bool any = false;
  for (int k = 0; k + 1 < stages(); ++k) {
    if (most_steps_ == kInfinity) count_steps(k);
    for (const double at_least : boxes_[k].steps) any |= at_least >= steps && at_least < most_steps_;
  }
  most_steps_ = std::min(most_steps_, steps);
  return any;
}

}  // namespace pliant::exact
