// SPDX-License-Identifier: Apache-2.0
// Compares the search over residency with enumeration on one random network, for all objectives and some deadlines.
#pragma once

#include <cstdint>

namespace pliant::tests {

struct ResidencyCounts {
  int networks = 0, comparisons = 0, infeasible = 0;
  int better = 0, equal = 0;  ///< networks whose least EDP is less with residency, and those where nothing helps
};
/// Failures are GoogleTest failures.
/// The same for weights that may stay across inferences, where there are not too many choices to try all.
void compare_weights_with_enumeration(std::uint64_t seed, ResidencyCounts& counts);

void compare_with_enumeration(std::uint64_t seed, ResidencyCounts& counts);

}  // namespace pliant::tests
