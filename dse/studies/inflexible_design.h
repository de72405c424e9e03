// SPDX-License-Identifier: Apache-2.0
// The best inflexible design for a network: one tile, one loop order, one pair of parallel dims and one array shape for
// all layers, chosen together, under a bandwidth of the DRAM.
//
// With dim a over r rows and dim b over c columns a layer takes
//
//     f(D_a, T_a, r) * f(D_b, T_b, c) * product of the other dims      steps, where
//     t          = the largest divisor of D that is at most T
//     f(D, T, s) = ceil(D / s)                                   where t = D: the last round may leave units idle
//                = D / (the largest divisor of t that is <= s)   otherwise: temporal loops divide, so no tile of
//                several
//                                                                has a remainder of its own
//
// (the fixed tile as flexibility rules define it with spatial remainders), or as long as the DRAM needs for its reads
// or its writes, whichever is longest. The words follow from the tile and the order of the loops outside it alone: seen
// from the inside, a tensor stays while loops run that it does not depend on, and slides along the first one that it
// does depend on (docs/model.md).
//
// The search is exact. Two bounds close it: f >= ceil(D / s) whatever the tile, and of the three tensors only one can
// stay in a tile's place, whatever the order. Ends with the optimum over all T, O, P and S of these layers.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "core/layer.h"

namespace pliant {

/// What all designs share.
struct InflexibleHardware {
  Count units = 1;
  Count buffer_words = 1;      ///< the tile (inputs, weights, outputs) must fit
  double words_per_cycle = 0;  ///< of the DRAM in each direction; 0 = no limit
};

/// Dims of a convolution in the order M, C, P, Q, R, S. A depthwise layer has no M: its C takes M's tile and
/// M's side of the array.
struct InflexibleDesign {
  static constexpr std::array<const char*, 6> kDims = {"M", "C", "P", "Q", "R", "S"};
  std::size_t row_dim = 0, col_dim = 1;  ///< index into kDims
  Count rows = 1, cols = 1;
  std::array<Count, 6> tile{1, 1, 1, 1, 1, 1};
  std::array<int, 6> order{0, 1, 2, 3, 4, 5};  ///< of the loops at the DRAM, outermost first
  double cycles = 0;                           ///< of the network it was made for
};

/// Layers must be convolutions of stride 1, depthwise or not, or GEMMs.
class InflexibleNetwork {
 public:
  explicit InflexibleNetwork(const Workload& network);
  /// Several networks that count alike: cycles are per MAC of each, and added.
  explicit InflexibleNetwork(const std::vector<Workload>& networks);

  /// Of the whole network, as the mapper would find them.
  double cycles(const InflexibleDesign& design, const InflexibleHardware& hardware) const;
  /// The proven optimum; `stopped` is asked now and then, and when it says so nothing is proven (cycles is infinite).
  InflexibleDesign best(const InflexibleHardware& hardware, const std::function<bool()>& stopped) const;
  /// As the flexibility paper searches: a genetic algorithm with 100 individuals and 100 generations.
  InflexibleDesign genetic(const InflexibleHardware& hardware, std::uint64_t seed) const;
  /// Every pair, shape and tile that is as fast as the optimum (to 1e-12 of it), each with the first order that makes
  /// it so. Of shapes with as many columns the one with most rows; without a limit of bandwidth one tile for each
  /// choice of sizes of the dims that decide the steps, since the others make no difference.
  void for_each_tie(const InflexibleHardware& hardware, double cycles,
                    const std::function<void(const InflexibleDesign&)>& each) const;

  /// A layer as such a design sees it; equal ones are one.
  struct Shape {
    std::array<Count, 6> size{1, 1, 1, 1, 1, 1};
    bool depthwise = false;
    double count = 1;
    double macs() const;
  };
  const std::vector<Shape>& shapes() const { return shapes_; }
  /// Sizes that make a difference for a tile: the divisors of the layers' sizes, the largest first.
  const std::vector<Count>& tiles(std::size_t dim) const { return tiles_[dim]; }

 private:
  void add(const Workload& network, double weight);
  void list_tiles();

  std::vector<Shape> shapes_;
  std::array<std::vector<Count>, 6> tiles_;
};

/// Does a tile of this size fit, for a convolution and for a depthwise layer?
bool tile_fits(const std::array<Count, 6>& tile, Count buffer_words);

}  // namespace pliant
