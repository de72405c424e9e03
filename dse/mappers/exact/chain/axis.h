// SPDX-License-Identifier: Apache-2.0
// One dim at one memory: the tile sizes it can have there, and the prime steps between them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "dse/mappers/exact/task/spatial.h"

namespace pliant::exact {

struct Axis {
  struct State {
    Count tile = 1;  ///< product of all bounds inside
    Count left = 1;  ///< iterations still to be placed outside
    auto operator<=>(const State&) const = default;
  };
  std::vector<State> states;
  std::vector<double> left;  ///< by state, the same as there
  /// Loops of prime bound: from one state to the next; sorted so that a single sweep closes chains.
  std::vector<std::pair<int, int>> edges;
  std::vector<int> from_inside;  ///< state of the memory just inside -> state here after the fanouts between, or -1
  std::vector<bool> may_end;     ///< allowed as the tile held here
  /// For every state those from which one loop leads to it, itself included, ascending: all in one list, and where
  /// those of a state begin. (A list of its own for each would take longer to allocate than to fill.)
  std::vector<int> leading, first_leading;
  std::span<const int> below(int state) const {
    const auto s = static_cast<std::size_t>(state);
    return {leading.data() + first_leading[s], leading.data() + first_leading[s + 1]};
  }
  int start = 0;  ///< innermost memory only: the state before its loops
  /// Where a state stands for a group of tiles (groups.h): the largest of them, by state; they are multiples of `unit`.
  /// The state itself is the smallest tile and the fewest iterations left. Empty: every state is one tile.
  std::vector<Count> largest;
  Count unit = 1;
  bool grouped() const { return !largest.empty(); }
};

/// One dim at all memories, from the innermost outwards; empty when the dim cannot be completed.
using Chain = std::vector<Axis>;

/// Chains by dim, its spatial factors and the kept tensors: choices that differ elsewhere share them.
struct AxisCache {
  template <typename Make>
  const std::optional<Chain>& chain(const std::vector<Count>& key, const Make& make) {
    {
      const std::lock_guard lock(mutex);
      if (const auto entry = chains.find(key); entry != chains.end()) return *entry->second;
    }
    auto fresh = std::make_unique<const std::optional<Chain>>(make());
    const std::lock_guard lock(mutex);
    return *chains.try_emplace(key, std::move(fresh)).first->second;
  }
  std::mutex mutex;
  std::map<std::vector<Count>, std::unique_ptr<const std::optional<Chain>>> chains;
  std::array<std::vector<Count>, kMaxDims> divisors;  ///< of the dims' sizes; empty = not asked for yet
};

/// Under Ruby and Ruby-T: of temporal bounds that leave the same iterations outside, is the smallest as good as any?
bool smallest_bound_will_do(const MapSpaceRules& rules, const Problem& problem, const Spatial& spatial, int d);

/// By memory, from the innermost outwards: the largest tile of one dim that it holds, everything else being as small as
/// it can be; 0 when nothing fits.
using LargestTiles = std::array<Count, kMaxLevels>;
LargestTiles largest_tiles(const MapSpaceRules& rules, const Problem& problem, const Keeps& keeps, int d);

/// axes[d][k]. Empty when some dim cannot be completed, nothing where remainders leave too many tiles to walk.
using Axes = std::vector<const Chain*>;
std::optional<Axes> build_axes(const MapSpaceRules& rules, const Problem& problem, const Spatial& spatial,
                               const Keeps& keeps, AxisCache& cache);

}  // namespace pliant::exact
