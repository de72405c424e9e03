// SPDX-License-Identifier: Apache-2.0
// When a port is done: at the end of the cycle in which its last word passes.
#pragma once

#include <cstdint>

namespace pliant {

/// Of a time. Bandwidths are decimal numbers in a file and binary ones here: 42 words at 0.7 a cycle take
/// 60.000000000000007 cycles. What exceeds a whole number by no more than this share is rounding. It is many times the
/// rounding of a quotient, and less than one word of 2^46.
inline constexpr double kRoundingOfCycles = 0x1p-46;

/// std::floor of what is not negative, without a call; a double from 2^52 on is whole.
inline double whole_part(double value) {
  return value < 0x1p52 ? static_cast<double>(static_cast<std::int64_t>(value)) : value;
}

/// The whole cycles in which a time that is not negative ends; grows with the time.
inline double whole_cycles(double time) {
  const double whole = whole_part(time);
  return whole + (time - whole > time * kRoundingOfCycles ? 1 : 0);
}

}  // namespace pliant
