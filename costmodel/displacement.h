// SPDX-License-Identifier: Apache-2.0
// Timeloop's window reuse: a memory of the last displacement decides whether a moved tile is fetched in part or in
// full. Exact for every loop bound, without walking the iterations: the state after a block of loops depends only on
// the state before it, and there are few states.
#pragma once

#include <array>

#include "costmodel/loop_nest.h"

namespace pliant {

/// True when two or more loops outside the child move windows of the tensor; with fewer the run formula is the same.
bool displacement_decides(const LoopNest& loops, int tensor, int child);

class DisplacementWalk {
 public:
  /// Of the windows of a tensor at a child (index `levels` = compute).
  DisplacementWalk(const LoopNest& loops, int tensor, int child)
      : loops_(loops), problem_(loops.problem()), tensor_(tensor), child_(child) {}

  /// Words delivered to one instance of the child over the whole run; or to all children of the `united` fanouts (bit l
  /// = level l) as if they were one, whose window spans theirs.
  double words(std::uint32_t united = 0);

 private:
  static constexpr int kMaxRanks = 2 * kMaxDims;
  static constexpr int kMaxLoops = kMaxDims * kMaxLevels;
  using Displacement = std::array<double, kMaxRanks>;
  /// What a block of loops does with a remembered displacement: words fetched, and what is remembered then.
  struct Block {
    std::array<double, kMaxLoops + 1> words{};
    std::array<int, kMaxLoops + 1> next{};
  };

  void measure_tile(std::uint32_t united);
  void collect_loops();
  void add_loop(int level, int dim, Displacement& wrap);
  Displacement step_of(int level, int dim) const;
  void advance(int loop, const Block& inside, Block& once) const;
  void repeat(int loop, const Block& inside, const Block& again, Block& all) const;

  const LoopNest& loops_;
  const Problem& problem_;
  const int tensor_, child_;

  // The tile: its extent along every rank (plain dims first, then affine ranks), and its words.
  Displacement extent_{};
  std::array<int, kMaxDims> simple_rank_{};
  int ranks_ = 0, first_affine_ = 0;
  double tile_ = 1;
  // Loops, innermost first: the displacement when one advances and all loops inside it wrap, and what it costs.
  int count_ = 0;
  // Large and written before they are read, so not cleared first.
  std::array<double, kMaxLoops> bound_, cost_;
  std::array<int, kMaxLoops> state_of_;  // which remembered displacement this one is; -1 = no displacement
  std::array<Displacement, kMaxLoops> moved_;
};

}  // namespace pliant
