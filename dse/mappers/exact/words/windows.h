// SPDX-License-Identifier: Apache-2.0
// Windows along affine ranks, and what fanouts make of them.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "dse/mappers/exact/task/facts.h"
#include "dse/mappers/exact/task/spatial.h"

namespace pliant::exact {

/// Calls visit([outermost, innermost] levels) for the fanouts between two levels in runs that no memory divides, from
/// the inside out.
template <typename Visit>
void for_each_network(const Problem& problem, int outside, int inside, const Visit& visit) {
  for (int l = inside - 1; l > outside; --l) {
    if (problem.is_memory[l]) continue;
    const int innermost = l;
    while (l - 1 > outside && !problem.is_memory[l - 1]) --l;
    visit(std::pair<int, int>(l, innermost));
  }
}

/// All of them.
std::vector<std::pair<int, int>> networks_between(const Problem& problem, int outside, int inside);

/// Where only some fanouts of a network share or unite windows, the network is taken to do so as a whole: a lower
/// bound.
struct Sharing {
  bool shared = true, partial = false;
};
Sharing sharing(const Problem& problem, std::pair<int, int> network, int tensor);

/// Distinct windows among the children of a network whose tile below it is known.
double windows(const Spatial& spatial, const Problem::AffineRank& rank, std::pair<int, int> network,
               const std::array<double, kMaxDims>& below, bool shared);

/// A lower bound on the same when the tile below is not known yet.
double fewest_windows(const Spatial& spatial, const Problem::AffineRank& rank, std::pair<int, int> network,
                      bool shared);

/// The same with perfect factors, sharper: the tile below the network is the node's times what the network's own
/// neighbours inside unroll times some divisor of the iterations that are left for loops. The least over all of these.
/// `tile` and `left` are those of the node at the memory `level`, inside the network.
double fewest_windows_beyond(const Spatial& spatial, const Problem::AffineRank& rank, std::pair<int, int> network,
                             int level, const std::array<double, kMaxDims>& tile,
                             const std::array<double, kMaxDims>& left);

/// The same with remainders, as a share of the children at work, which may be fewer than the network has but have
/// windows of one size. The tile below the network is the node's times what the network's own neighbours inside unroll
/// times the bounds of some loops. If loops divide and nothing is unrolled in between, these are divisors of what the
/// node leaves, and all rounds of the network are known. Else they are any numbers, and the share is that of all units
/// that can work, for fewer share no more. The network must find as many tiles as its bounds ask for, and it must
/// unroll the rank alone. Where there are too many tiles to look at, what holds for any tile.
double least_share_of_windows(const Spatial& spatial, const Problem::AffineRank& rank, std::pair<int, int> network,
                              int level, const std::array<double, kMaxDims>& tile,
                              const std::array<double, kMaxDims>& left, bool loops_divide);

/// Is this the only one of some networks that unrolls dims of the rank?
bool unrolls_alone(const Spatial& spatial, const Problem::AffineRank& rank, std::pair<int, int> network,
                   const std::vector<std::pair<int, int>>& networks);

}  // namespace pliant::exact
