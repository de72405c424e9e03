// SPDX-License-Identifier: Apache-2.0
// Sets of dims, tensors and levels are words of bits.
#pragma once

#include <bit>
#include <cstdint>

namespace pliant {

class Members {
 public:
  explicit constexpr Members(std::uint32_t set) : set_(set) {}
  struct Iterator {
    std::uint32_t rest;
    constexpr int operator*() const { return std::countr_zero(rest); }
    constexpr Iterator& operator++() {
      rest &= rest - 1;
      return *this;
    }
    constexpr bool operator!=(const Iterator& other) const { return rest != other.rest; }
  };
  constexpr Iterator begin() const { return {set_}; }
  constexpr Iterator end() const { return {0}; }

 private:
  std::uint32_t set_;
};

/// The members of a set, the lowest first: for (const int d : members(dims)).
constexpr Members members(std::uint32_t set) { return Members(set); }

/// The set of one member.
constexpr std::uint32_t only(int member) { return std::uint32_t{1} << member; }

constexpr bool contains(std::uint32_t set, int member) { return (set >> member & 1U) != 0; }

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
