// SPDX-License-Identifier: Apache-2.0
// Arithmetic that every room needs and the standard library lacks.
#pragma once

#include <cstdint>
#include <limits>

namespace pliant {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// a / b rounded up, for a >= 0 and b > 0; does not overflow.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

}  // namespace pliant
