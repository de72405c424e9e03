// SPDX-License-Identifier: Apache-2.0
// The exact number of legal mappings, without listing them.
//
// Walk the levels from the MAC outwards. The state is the tile, one size per dim; the number of ways to reach it is all
// that must be remembered, for every limit of a memory (capacity, partition, fixed tile) is a property of the tile it
// holds, and every limit of a fanout (units, shape, assignment) one of its own loops. A mapping is counted once: loops
// of bound 1 have no place in an order, and the order of loops that run in parallel does not matter.
#pragma once

#include <cstdint>
#include <optional>

#include "core/accelerator.h"
#include "core/big_count.h"
#include "core/layer.h"
#include "core/mapping.h"

namespace pliant {

struct LegalCountLimits {
  std::uint64_t tiles = 500'000;        ///< states; bounds memory
  std::uint64_t steps = 2'000'000'000;  ///< elementary steps; bounds time
};

/// nullopt when the space is beyond the limits, or with padding (where a tile does not say how large the padded dim
/// is).
std::optional<BigCount> count_legal_mappings(const Layer& layer, const Accelerator& accelerator,
                                             const Flexibility& flexibility, Factorization rule,
                                             const LegalCountLimits& limits = {});

}  // namespace pliant
