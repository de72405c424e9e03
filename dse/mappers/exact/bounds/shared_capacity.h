// SPDX-License-Identifier: Apache-2.0
// The bound of tensors that share a memory: its tiles must hold them together, so some of them come again.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "dse/mappers/exact/bounds/unrolling_bounds.h"

namespace pliant::exact {

class SharedCapacity {
 public:
  using Chosen = UnrollingBounds::Chosen;
  using Mix = UnrollingBounds::Mix;

  explicit SharedCapacity(const UnrollingBounds& bounds)
      : bounds_(bounds), resolved_(bounds.resolved()), p_(resolved_.problem) {}

  /// What deliveries beyond the first cost at least where they are certain; ends where it is enough.
  double least(const Chosen& chosen, const Mix& mix, const std::function<bool(double)>& enough) const;

  /// The tiles of a memory with which shared capacity costs the least energy: a mapping can be read off them
  /// (search/read_off.h).
  struct BestTile {
    DimSet grown = 0;                     ///< dims along which its size saves deliveries
    std::array<double, kMaxDims> left{};  ///< iterations outside it, of these
    DimSet first = 0;                     ///< loops over these come first outside it
  };
  /// By memory, from the innermost outwards; the outermost has none.
  std::vector<BestTile> best_tiles(std::size_t keep_choice) const;

 private:
  class Tiles;
  /// By memory: tensors that it keeps and that come from outside it.
  std::array<TensorSet, kMaxLevels> from_outside(const Chosen& chosen) const;
  std::array<TensorSet, kMaxLevels> counted_at(int border, const Chosen& chosen) const;
  /// The transfers across the border of one memory.
  struct Border {
    int k = 0, level = 0;
    TensorSet crossing = 0, staying = 0;
    DimSet used = 0, grows = 0;                        // dims of these tensors; dims that may loop inside
    std::array<int, kMaxTensors> child{}, together{};  // memory that they go to; whose units are served together
    std::array<UnrollingBounds::Copies, kMaxTensors> copies{};
    std::array<Costs::Delivery, kMaxTensors> delivery{};
  };
  Border border_of(int k, const Chosen& chosen, TensorSet crossing, const Mix& mix) const;
  bool passes(const Border& border, int tensor) const;
  double over_first_loops(const Border& border, const Chosen& chosen, bool passing, BestTile* best) const;
  double at(int k, const Chosen& chosen, TensorSet crossing, const Mix& mix, BestTile* best = nullptr) const;
  BestTile best_tile(const Tiles& tiles, TensorSet crossing, TensorSet moved_first) const;

  const UnrollingBounds& bounds_;
  const ResolvedTask& resolved_;
  const Problem& p_;
};

}  // namespace pliant::exact
