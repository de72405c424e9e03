// SPDX-License-Identifier: Apache-2.0
// Words along affine ranks whose dims have short last tiles: counted over the few kinds of tiles that occur. Slower
// than the closed forms of windows.h and allowed to allocate.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "costmodel/loop_nest.h"
#include "costmodel/transfer.h"

namespace pliant {

/// Words that were counted before. Loops over other dims do not matter, so mappings that differ in these only, or in
/// orders, ask for the same words. For one problem and one thread.
class ShortWindowMemory {
 public:
  double words(const LoopNest& loops, const Problem::AffineRank& joint, const Transfer& transfer,
               const MovingLoop& mover, bool at_parent, std::uint32_t united);

 private:
  using Key = std::vector<std::int64_t>;
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  static constexpr std::size_t kMostKnown = 1 << 17;  ///< then all are forgotten

  Key key_;  // of the question at hand
  std::unordered_map<Key, double, Hash> known_;
};

/// Words along one rank that leave the parent when it serves the children of the `united` fanouts as one; or, not
/// `at_parent`, that arrive at all children.
double short_window_words(const LoopNest& loops, const Problem::AffineRank& joint, const Transfer& transfer,
                          const MovingLoop& mover, bool at_parent, std::uint32_t united);

/// Distinct elements along the output's affine ranks, summed over the instances of a level that split them.
double distinct_output_extent(const LoopNest& loops, int level);

}  // namespace pliant
