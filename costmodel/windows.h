// SPDX-License-Identifier: Apache-2.0
// The part of a nest's words that comes from affine index expressions, while factors are perfect: how large windows
// are, and how many of them differ.
#pragma once

#include <cstdint>

#include "costmodel/loop_nest.h"

namespace pliant {

/// Distinct values of m*a + n*b, a < A, b < B, m and n coprime (core/affine.h, without its overflow checks: the
/// products here are below that of the layer's sizes).
inline double distinct_pair(double m, double A, double n, double B) {
  if (A < n || B < m) return A * B;
  return m * (A - 1) + n * (B - 1) - (m - 1) * (n - 1) + 1;
}

/// Words along one rank that a child receives in one sliding run (or at once when nothing slides). `united`: fanouts
/// whose children count as one, so that their windows are part of the extent.
double affine_extent(const LoopNest& loops, const Problem::AffineRank& rank, int child, const MovingLoop& mover,
                     std::uint32_t united);

/// Of some fanouts, those over affine dims of a tensor that can serve their children's windows as one. A network that
/// can do more may be used as one that does less, so the words of a parent are the fewest over all subsets of them.
std::uint32_t united_fanouts(const LoopNest& loops, int tensor, std::uint32_t fanouts);

/// Different windows among the children that some fanouts give one instance of the parent: those that coincide share a
/// word, those of `united` fanouts are one. Adjacent fanouts act as one network; networks divided by a memory, kept or
/// not, are counted apart.
double distinct_windows(const LoopNest& loops, const Problem::AffineRank& rank, int tensor, std::uint32_t fanouts,
                        std::uint32_t united);

/// Words of a tensor's tile at a level, by the footprint convention.
double footprint(const LoopNest& loops, int level, int tensor);

/// Distinct output words per instance of a level, over the whole run, summed over its instances.
double first_output_words(const LoopNest& loops, int level);

/// The same with bounding boxes, whose holes no element fills. An instance's part of the output is a share of the
/// tensor's box: Timeloop's, at every network the child's tile over that of all children, in whole words.
double boxed_output_share(const LoopNest& loops, int level);

}  // namespace pliant
