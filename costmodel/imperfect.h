// SPDX-License-Identifier: Apache-2.0
// Counts for mappings whose last tiles are short: exact, from the remainders every dim leaves at every level. Slower
// than the perfect path and allowed to allocate.
#pragma once

#include <cstdint>

#include "costmodel/loop_nest.h"
#include "costmodel/short_windows.h"
#include "costmodel/transfer.h"

namespace pliant {

class ImperfectTransfers {
 public:
  /// With a memory, words of windows are counted once.
  explicit ImperfectTransfers(const LoopNest& loops, ShortWindowMemory* memory = nullptr)
      : loops_(loops), problem_(loops.problem()), memory_(memory) {}

  void price(Transfer& transfer) const;
  /// Steps of a dim on the longest path (some instance works in every one of them).
  double steps(int dim) const;
  /// Copies of a level that the dim keeps busy: at the peak, and on average over the steps. The peak is the first step:
  /// later ones only move the parts of all copies towards the end of the dim.
  double widest(int dim, int level) const;
  double average_width(int dim, int level) const;
  /// Of the words that a transfer delivers, the share that is left when copies of uncoupled dims under some of its
  /// fanouts count as one.
  double share_merged(const Transfer& transfer, std::uint32_t merged) const;
  /// How often the child's tile is another one: iterations of the loop that moves it, and of those outside.
  double tiles_visited(const Transfer& transfer) const;
  /// By how much the cycles of the steps of every tile but the last fall short of so many, in all.
  double steps_too_few(const Transfer& transfer, double cycles) const;

 private:
  struct Run {
    MovingLoop mover;
    bool every_loop = false;        ///< nothing stays: every loop brings new words
    bool innermost_memory = false;  ///< loops of the innermost memory count besides those outside the mover
  };
  /// How often the words of the coupled dims move, or arrive for the first time.
  struct Times {
    double served = 1, delivered = 1, first_parent = 1, first_child = 1;
  };

  /// Distinct tuples of the loop indices of a dim at the given levels (bit l = level l).
  double tuples(int dim, std::uint32_t levels) const;
  Run run_of(const Transfer& transfer) const;
  bool repeats(const Transfer& transfer, const Run& run, int level, int dim) const;
  std::uint32_t moving_levels(const Transfer& transfer, int dim) const;
  std::uint32_t repeating_levels(const Transfer& transfer, const Run& run, int dim) const;
  Times times_of(const Transfer& transfer, const Run& run) const;
  double first_words(int level) const;
  /// Words along all affine ranks that leave the parent when it serves the children of these fanouts as one; and those
  /// that arrive at all children.
  double affine_served(const Transfer& transfer, const MovingLoop& mover, std::uint32_t united) const;
  double affine_delivered(const Transfer& transfer, const MovingLoop& mover) const;

  double short_words(const Problem::AffineRank& joint, const Transfer& transfer, const MovingLoop& mover,
                     bool at_parent, std::uint32_t united) const;

  const LoopNest& loops_;
  const Problem& problem_;
  ShortWindowMemory* memory_;
};

}  // namespace pliant
