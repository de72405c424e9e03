// SPDX-License-Identifier: Apache-2.0
// Every allowance for rounding. One of them forgives: a bound that is below a value by a share of kRounding counts as
// reaching it. Bounds and prices are sums of at most some thousand products of the same numbers in different orders,
// all above zero but for first arrivals, so they differ by less than 1e4 * 2^-53 = 1.2e-12 of the value. All the others
// make bounds lower, or let more be looked at: they cost sharpness or time, and add nothing to what is forgiven.
#pragma once

#include "costmodel/whole_cycles.h"

namespace pliant::exact {

/// Nothing with this lower bound is better than the value.
inline constexpr double kRounding = 1e-11;
inline bool no_better(double bound, double value) { return bound >= value * (1 - kRounding); }

/// Lines of a region and loads before they are rounded up to whole cycles are lowered by this share.
inline constexpr double kRoundingOfSums = 1e-12;
static_assert(kRoundingOfSums > kRoundingOfCycles, "what the model rounds away, a bound must not claim");

/// Floors and steps of partial unrollings are products of shares: they are lowered by this share, and limits for them
/// are raised by it.
inline constexpr double kRoundingOfFloors = 1e-9;
/// The same where floors of several fanouts are multiplied.
inline constexpr double kRoundingOfCombined = 1e-8;

/// What a table promises is met but for this share: which of its paths is followed, no claim.
inline constexpr double kRoundingOfTables = 1e-13;

}  // namespace pliant::exact
