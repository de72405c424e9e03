// SPDX-License-Identifier: Apache-2.0
// The tiles that units and loops of one unrolling can have at each memory, and which of them fit.
#pragma once

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "dse/mappers/exact/task/resolved_task.h"

namespace pliant::exact {

/// How much a tile can grow by temporal loops, and the iterations that are left outside it then: at least, with
/// remainders.
struct Growth {
  double factor, left;
  double most;  ///< factor of the largest tile that it stands for
};
/// Of a dim, by memory from the innermost outwards; largest first. Of tiles that leave the same iterations only the
/// smallest, which stands for the others.
using Growths = std::vector<std::vector<Growth>>;

/// The growths of all unrollings of a task, found when they are asked for first.
class KnownGrowths {
 public:
  /// Tiles looked at per memory; where there are more this is not worth its price.
  static constexpr int kMostTiles = 2000;

  explicit KnownGrowths(const ResolvedTask& resolved) : resolved_(resolved), p_(resolved.problem) {}
  /// `spread`: units along the dim.
  const Growths& of(int d, const Spatial& spatial, Count spread);

 private:
  void list_divisors(Count iterations, std::vector<Growth>& all) const;
  void list_rounds(int d, Count spread, std::vector<Growth>& all) const;
  void list_reachable(int d, const Spatial& spatial, Growths& all) const;

  const ResolvedTask& resolved_;
  const Problem& p_;
  /// By dim; by the factor that is spread, or where it matters how it is by all of them and by the iterations in time.
  std::array<std::map<std::vector<Count>, Growths>, kMaxDims> known_;
  std::vector<Count> key_;
};

/// Words of a tile of a tensor, at least.
double words_of_tile(const Problem& problem, int tensor, const std::array<double, kMaxDims>& tile);

/// Least words that a memory holds of a tensor, by tensor.
using HeldWords = std::array<std::array<double, kMaxLevels>, kMaxTensors>;

struct Tiling {
  using Tile = std::array<double, kMaxDims>;
  /// `smallest`: words of the smallest tiles.
  Tiling(const ResolvedTask& resolved, const Spatial& spatial, const HeldWords& smallest, KnownGrowths& known);

  double words(int tensor, const Tile& tile) const { return words_of_tile(problem, tensor, tile); }
  const std::vector<Growth>& growths_at(int k, int d) const { return (*growths[d])[static_cast<std::size_t>(k)]; }

  /// Sets of tensors that cross the border of memory k, some loop over these dims outside it being the first to move
  /// them; without those that contain another, which are never better. Their number.
  using FirstSets = std::array<TensorSet, kMaxDims>;
  int first_sets(int k, TensorSet crossing, DimSet used, FirstSets& sets) const;
  TensorSet moved_along(int d, TensorSet tensors) const;
  /// By memory, from the innermost outwards: all tensors that memory k keeps, and those outside it that are soon full.
  using Held = std::array<TensorSet, kMaxLevels>;
  /// `kept`: tensors kept at each level.
  Held held_outside(int k, const std::array<TensorSet, kMaxLevels>& kept) const;
  /// The largest growth along a dim with which the tile of memory k still fits there and, for all units together, in
  /// the memories outside it; or the smallest of all.
  const Growth* largest_growth(int k, int d, const Held& holds, Tile& tile) const;

  const ResolvedTask& resolved;
  const Problem& problem;
  Tile temporal{};                          // iterations that are not spread, at least
  std::array<bool, kMaxDims> tile_known{};  // is a tile just what its loops and units make?
  std::array<const Growths*, kMaxDims> growths{};
  std::array<Tile, kMaxLevels> inside{};  // factors inside a memory, by dim
  std::array<Tile, kMaxLevels> units{};   // the same, also where there are more than iterations
  HeldWords held;

 private:
  const Growth* fitting_outside(int level, int d, int outer, TensorSet holds, const Tile& tile,
                                std::pair<const Growth*, const Growth*> larger) const;
};

}  // namespace pliant::exact
