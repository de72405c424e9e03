// SPDX-License-Identifier: Apache-2.0
// The tiles that one memory can hold: vectors of one size per dim whose tensors fit the capacity and, where there is a
// hard partition, their shares. This is the T axis by itself, without loops, orders or arrays.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "core/accelerator.h"
#include "core/big_count.h"
#include "core/layer.h"
#include "flex/mapspace/rules.h"

namespace pliant {

/// An estimate with its interval at 95 % confidence.
struct Interval {
  double value = 0, low = 0, high = 0;
};

/// Contract: contains, for_each, count and sample speak about one and the same set of tile vectors.
class TileSpace {
 public:
  /// Sizes 1 .. dim along every dim of the layer.
  TileSpace(const Layer& layer, const Accelerator& accelerator, int memory, const TileRule& rule);

  /// Only sizes that divide their dims (what perfect factorization can hold).
  TileSpace& divisors_only();
  /// Sizes without an upper limit but the capacity: what the hardware could hold of layers of any size. Dims that no
  /// kept tensor uses stay at 1.
  TileSpace& of_any_layer();

  bool contains(std::span<const Count> tile) const;
  /// In lexicographic order; visit returns false to stop, and so does the function then.
  bool for_each(const std::function<bool(std::span<const Count>)>& visit) const;
  /// Exact; nullopt when it would take more than `steps` elementary steps.
  std::optional<BigCount> count(std::uint64_t steps = 200'000'000) const;
  /// Uniform, by refusing what does not fit; nullopt after so many tries.
  std::optional<std::vector<Count>> sample(std::mt19937_64& random, std::uint64_t tries = 1'000'000) const;

  /// Sizes of a space and of one within it (the same layer and memory under a stricter rule), and their ratio, from the
  /// same random tiles.
  struct Estimate {
    Interval whole, part, ratio;
  };
  static Estimate estimate(const TileSpace& whole, const TileSpace& part, std::uint64_t samples, std::uint64_t seed);

 private:
  double words(int tensor, std::span<const Count> tile) const;
  /// No limit is exceeded: what a tile exceeds, larger ones exceed as well.
  bool fits(std::span<const Count> tile) const;
  /// Every rule about words.
  bool is_held(std::span<const Count> tile) const;
  /// The largest size of a dim that fits when the others are as given, at least 1; 0 = none.
  Count largest(int dim, std::vector<Count>& tile) const;
  /// The same in closed form, for a dim that stands alone in every index.
  Count largest_of_linear(int dim, std::vector<Count>& tile) const;
  bool is_linear(int dim) const;
  double held_along(int dim, std::vector<Count>& tile, std::mt19937_64& random) const;
  std::vector<int> counting_order() const;

  Layer layer_;
  Conventions::Footprint convention_;
  Footprint footprint_;
  MemoryRules rules_;
  std::vector<int> kept_;                     ///< tensors
  std::vector<Count> fixed_;                  ///< by dim, clipped to it; 0 = free
  std::vector<std::vector<Count>> divisors_;  ///< by dim; empty = every size
};

}  // namespace pliant
