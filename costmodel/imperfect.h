// SPDX-License-Identifier: Apache-2.0
// Counts for mappings whose last tiles are short, and for outputs whose windows overlap: exact, by enumerating the
// few kinds of tiles each dim has. Slower than the perfect path and allowed to allocate.
#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/nest.h"

namespace pliant {

class ImperfectTraffic {
 public:
  explicit ImperfectTraffic(const Nest& nest) : nest_(nest), problem_(nest.problem()) {}

  void price(Traffic& pair) const;
  /// Steps of a dim on the longest path (some instance works in every one of them).
  double steps(int dim) const;
  /// Copies of a level that the dim keeps busy: at the peak, and on average over the steps. The peak is the first step:
  /// later ones only move the parts of all copies towards the end of the dim.
  double widest(int dim, int level) const;
  double average_width(int dim, int level) const;
  /// Distinct elements along the output's affine ranks, summed over the instances of a level that split them.
  double distinct_output_extent(int level) const;

 private:
  /// Distinct tuples of the loop indices of a dim at the given levels (bit l = level l).
  double tuples(int dim, std::uint32_t levels) const;
  /// Words along all affine ranks that leave the parent when it serves the children of these fanouts as one; and those
  /// that arrive at all children.
  double affine_served(const Traffic& pair, const Nest::Kill& kill, std::uint32_t united) const;
  double affine_delivered(const Traffic& pair, const Nest::Kill& kill) const;
  /// Words along one rank whose dims have short tiles: leaving the parent, or arriving at all children.
  double rank_words(const Problem::AffineRank& joint, const Traffic& pair, const Nest::Kill& kill, bool at_parent,
                    std::uint32_t united) const;

  const Nest& nest_;
  const Problem& problem_;
};

}  // namespace pliant
