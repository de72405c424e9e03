// SPDX-License-Identifier: Apache-2.0
// How one dim is split over the slots of the loop nest: divisors, and factor chains under every factorization rule.
//
// Take the slots of a dim of size D from the innermost outwards and call n what is left to iterate, at first D. A slot
// of bound b leaves ceil(n / b); the chain is complete when 1 is left. In Ruby's recurrence (eq. 5) the remainder of
// the slot is R = (n - 1) mod b + 1, so
//
//     R = b  (the slot is perfect)   if and only if   b divides n,
//     1 <= b <= n                    every bound that can be used at all, each leaving a different tile.
//
// That gives all mapspaces, for any number of temporal and spatial slots in any order:
//
//     pfm       every slot takes a divisor of what is left
//     ruby-s    spatial slots take any number up to what is left, temporal slots a divisor
//     ruby-t    temporal slots take any number up to what is left, spatial slots a divisor
//     ruby      every slot takes any number up to what is left
//     padding   spatial slots take any factors with product s <= D; D is raised to D' = s * ceil(D / s), the next
//               multiple of s, and temporal slots split D' / s perfectly
//
// The outermost slot takes all that is left and is therefore always perfect. Different bounds are different chains.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/arithmetic.h"
#include "core/layer.h"
#include "core/mapping.h"

namespace pliant {

std::vector<Count> divisors(Count n);                       ///< ascending; n >= 1
std::vector<std::pair<Count, int>> prime_factors(Count n);  ///< (prime, exponent), primes ascending

/// One place of the nest where the dim may have a loop.
struct Slot {
  bool spatial = false;
  Count limit = 0;          ///< largest bound; 0 = no limit
  int level = 0;            ///< of the accelerator
  Side side = Side::kRows;  ///< of a fanout

  /// The largest bound where `left` is left to iterate.
  Count largest(Count left) const { return limit == 0 ? left : std::min(limit, left); }
  bool operator==(const Slot&) const = default;
};

/// May a slot hold a bound that does not divide what is left?
bool may_be_imperfect(Factorization rule, bool spatial);

/// The tile that a fixed size means for a dim: clipped to the dim, and where temporal loops must divide, the largest
/// divisor of the dim that does not exceed it.
Count reachable_tile(Count fixed, Count size, Factorization rule);

/// Bounds that a slot may take when `tile` lies inside it, ascending; `size` is the (padded) size of the dim.
std::vector<Count> slot_bounds(Count size, Count tile, const Slot& slot, Factorization rule);

/// The tile after a loop of that bound.
inline Count grown_tile(Count tile, Count bound, Count size) {
  return tile > size / bound ? size : std::min(size, tile * bound);
}

/// Calls visit with the bounds of every chain, once each, slots and bounds outermost first. Lazy: visit returns false
/// to stop, and so does the function then.
bool for_each_chain(Count size, std::span<const Slot> slots, Factorization rule,
                    const std::function<bool(std::span<const Count>)>& visit);

}  // namespace pliant
