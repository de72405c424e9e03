// SPDX-License-Identifier: Apache-2.0
// Timeloop's memory of the last displacement, with perfect factors. Let the first loop that moves a window slide it
// along dim a by m. Whenever a loop further out advances, m is what is remembered: if that moves the window by m, it
// brings as few words as the slide does; if it leaves the window in place, none; else the whole window (docs/dev/proof,
// L5.17). This file finds which loops further out may be of the first two kinds.
#pragma once

#include <map>
#include <vector>

#include "dse/mappers/exact/task/resolved_task.h"

namespace pliant::exact {

/// Along a rank of two dims that move: a, whose loop at a memory slides the window, and b.
class RememberedSlide {
 public:
  RememberedSlide(const ResolvedTask& resolved, const Spatial& spatial, int memory, int a,
                  const Problem::AffineRank& rank);
  /// Has the rank two such dims, and are all iterations walked?
  static bool can_follow(const Problem& problem, const Problem::AffineRank& rank);

  enum class Further {
    kWhole,    ///< all loops further out bring whole windows
    kGoesOn,   ///< but those over a that slide on
    kReturns,  ///< but those over a
    kAny,      ///< but those over a and b
  };
  /// Tiles after the slide, whose loop has this bound.
  Further further(Count tile_a, Count tile_b, Count bound) const;
  /// Iterations in time of a outside the slide.
  Count loops_left(Count tile_a) const { return left_of(a_, tile_a); }
  /// How far one iteration moves the window, of the tile after the slide.
  Count step(Count tile_a, Count bound) const { return a_.coefficient * (tile_a / bound); }
  /// The bounds that the loop may have, ascending.
  std::vector<Count> bounds(Count tile_a) const;
  int partner() const { return b_.dim; }

 private:
  /// A dim as loops further out find it: its tile, and the tile less what its loops so far have moved the window by,
  /// over the coefficient. A loop leaves this residue as it is, s units add s - 1 tiles. An advance of the dim's next
  /// loop, while all loops inside it go back, moves the window by coefficient * residue less what other dims did.
  struct Reached {
    Count tile, residue;
  };
  struct Dim {
    int dim = 0;
    Count coefficient = 1, size = 1, units_inside = 1, units_outside = 1;
    bool loops_before_units = false;  // outside this memory
  };
  Dim dim_of(int dim, Count coefficient) const;
  static Count left_of(const Dim& dim, Count tile) { return dim.size / (tile * dim.units_outside); }
  /// From this memory on, the residue being 0 there. `here`: its own loops may come next.
  const std::vector<Reached>& reach(const Dim& dim, Count tile, bool here,
                                    std::map<Count, std::vector<Reached>>& known) const;

  const ResolvedTask& resolved_;
  const Spatial& spatial_;
  const int memory_;
  Dim a_, b_;
  mutable std::map<Count, std::vector<Reached>> from_a_, from_b_;  // by tile
};

}  // namespace pliant::exact
