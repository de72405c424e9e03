// SPDX-License-Identifier: Apache-2.0
// How many distinct values an affine index expression takes: the size of a tile along one tensor rank.
#pragma once

#include <span>

#include "core/layer.h"

namespace pliant {

/// One loop seen by a rank: index i in [0, count), contributing i * stride.
struct Stride {
  Count stride, count;  // no defaults: arrays of strides in hot code are not worth clearing
};

/// Distinct values of m*a + n*b with a < A, b < B (QuickFlow's closed form, for any gcd). A, B, m, n >= 1.
Count distinct_values(Count m, Count A, Count n, Count B);

/// At most so many strides of a count above 1 at a time.
inline constexpr std::size_t kMaxStrides = kMaxDims * (kMaxLevels + 1);

/// Distinct values of the sum over the strides; closed form up to two, dynamic programming beyond. Allocates only where
/// three or more strides span many thousands of values.
Count distinct_values(std::span<const Stride> strides);

/// Size of the interval from the smallest to the largest value.
Count bounding_extent(std::span<const Stride> strides);

}  // namespace pliant
