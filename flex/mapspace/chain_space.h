// SPDX-License-Identifier: Apache-2.0
// The factor chains of one dim, fixed tiles applied, counted but not listed: how many there are, and one at random.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "flex/mapspace/rules.h"

namespace pliant {

class ChainSpace {
 public:
  ChainSpace(const MapSpaceRules& rules, int dim);

  /// Exact below 2^53.
  double count() const { return count_; }
  /// Bounds by slot of the dim, each chain equally likely; there must be one.
  void sample(std::mt19937_64& random, std::vector<Count>& bounds) const;

 private:
  /// One slot, or (slot < 0) the place where a tile is fixed. From the innermost outwards.
  struct ChainSlot {
    int slot = -1;
    Count fixed = 0;
  };
  struct Edge {
    Count bound;
    std::uint32_t to;  ///< tile number
  };

  void list_padded(const MapSpaceRules& rules, int dim);
  void find_edges(const MapSpaceRules& rules, int dim);
  void count_ways();

  std::vector<ChainSlot> chain_;
  std::vector<Count> tiles_;                           ///< that the chain can form, ascending
  std::vector<std::vector<std::vector<Edge>>> edges_;  ///< by place of the chain and tile number
  std::vector<std::vector<double>> ways_;              ///< by place of the chain and tile number: to finish from there
  std::vector<Count> listed_;                          ///< padding: all chains, one after the other
  std::size_t slots_ = 0;
  Count size_ = 1;
  double count_ = 0;
};

}  // namespace pliant
