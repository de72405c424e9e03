// SPDX-License-Identifier: Apache-2.0
// The factor chains of one dim, fixed tiles applied, sorted by the memories at which they have a loop. What a uniform
// sampler needs: how many chains have loops at exactly these memories, and one of them at random.
#pragma once

#include <cstdint>
#include <random>
#include <unordered_map>
#include <vector>

#include "flex/mapspace/space_rules.h"

namespace pliant {

class ChainSpace {
 public:
  /// `tracked`: the memories (indices of SpaceRules::memories) whose loops a pattern tells apart; bit i of a pattern
  /// stands for tracked[i], at most 16 of them.
  ChainSpace(const SpaceRules& rules, int dim, const std::vector<int>& tracked);

  /// Chains by pattern. Exact below 2^53.
  const std::vector<double>& counts() const { return counts_; }
  /// Bounds, parallel to SpaceRules::slots[dim]; uniform over the chains with that pattern, of which there must be one.
  void sample(std::uint32_t pattern, std::mt19937_64& random, std::vector<Count>& bounds);
  /// Size of the dim under the chain last sampled (differs from the layer's under padding only).
  Count padded_size() const { return padded_; }

 private:
  /// One slot, or (slot < 0) the place where a tile is fixed.
  struct Step {
    int slot = -1;
    int bit = -1;     ///< of the pattern; -1 = spatial or not tracked
    Count fixed = 0;  ///< the tile must be this after the step; 0 = any
  };
  struct Move {
    Count bound;
    std::uint32_t to;  ///< tile number
  };
  using Table = std::vector<std::vector<double>>;  ///< by step and tile number: ways to finish

  void list_padded(const SpaceRules& rules, int dim);
  void build(const SpaceRules& rules, int dim);
  const Table& table(std::uint32_t pattern);

  std::vector<Step> steps_;
  std::vector<std::vector<std::vector<Move>>> moves_;  ///< by step and tile number
  std::vector<Count> tiles_;
  std::vector<double> counts_;
  std::unordered_map<std::uint32_t, Table> tables_;
  /// Padding: all chains, by pattern, slot bounds one after the other.
  std::vector<std::vector<Count>> listed_;
  std::size_t slots_ = 0;
  Count size_ = 1, padded_ = 1;
};

}  // namespace pliant
