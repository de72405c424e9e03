// SPDX-License-Identifier: Apache-2.0
// Sets of dims, tensors and levels are words of bits.
#pragma once

#include <bit>
#include <cstdint>

namespace pliant {

/// Calls f(position) for every bit that is set, lowest first.
template <typename F>
inline void for_each_bit(std::uint32_t set, F f) {
  while (set != 0) {
    f(std::countr_zero(set));
    set &= set - 1;
  }
}

/// Calls f(subset) for every subset of a set, the empty one last.
template <typename F>
inline void for_each_subset(std::uint32_t set, F f) {
  for (std::uint32_t subset = set;; subset = (subset - 1) & set) {
    f(subset);
    if (subset == 0) return;
  }
}

/// All bits below a position.
constexpr std::uint32_t below(int position) { return (std::uint32_t{1} << position) - 1; }

/// Of a set that is not empty; written so that it is one instruction.
constexpr int highest(std::uint32_t bits) { return 31 ^ std::countl_zero(bits | 1U); }

}  // namespace pliant
