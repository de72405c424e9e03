// SPDX-License-Identifier: Apache-2.0
// How many different values an index takes. The auditor counts them by itself: core/affine, which the cost model, the
// map-space and the mappers count by, must not mislead it.
#pragma once

#include <span>

#include "core/layer.h"

namespace pliant::audit {

/// Adds i * step to the index, for every i below the count.
struct IndexTerm {
  Count step, count;
};

/// At most so many at a time.
inline constexpr std::size_t kMostTerms = kMaxDims * (kMaxLevels + 1);

/// Different values of the sum of all terms: no more than there are, and exactly so many unless they lie very far
/// apart; and no fewer.
Count fewest_values(std::span<const IndexTerm> terms);
Count most_values(std::span<const IndexTerm> terms);

/// From the least to the largest of them.
Count box_of_values(std::span<const IndexTerm> terms);

}  // namespace pliant::audit
