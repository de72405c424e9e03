// SPDX-License-Identifier: Apache-2.0
// How large and how small numbers of input files may be. Counts are below 2^62; a count times an energy times a count
// of cycles, each at its limit, is still far from what a double cannot hold, so that no answer is an overflow.
#pragma once

namespace pliant {

inline constexpr double kMostReal = 1e12;
inline constexpr double kLeastPositiveReal = 1e-12;  ///< of what must be above 0: rates and durations divide
inline constexpr double kMostHertz = 1e15;

}  // namespace pliant
