// SPDX-License-Identifier: Apache-2.0
// Sizes of map-spaces in closed form: before any limit that ties dims together (capacity, the units of a fanout) is
// applied. flex/mapspace/legal_count.h applies them all.
#pragma once

#include <vector>

#include "core/accelerator.h"
#include "core/big_count.h"
#include "core/layer.h"
#include "core/mapping.h"

namespace pliant {

/// factor chains x orders x bypasses. Counted: per dim, every chain whose bounds fit their slots one by one; per
/// memory, every allowed order of all dims of size > 1 that may loop there (a loop of bound 1 has a place too, as in
/// QuickFlow's formula); per memory, every allowed choice of kept tensors. Not applied: capacities, fixed tiles and
/// partitions, and the joint limits of a fanout (units, assignments, dims per side).
struct MapSpaceSize {
  std::vector<BigCount> chains;    ///< by dim
  std::vector<BigCount> orders;    ///< by level; 1 for what is no memory
  std::vector<BigCount> bypasses;  ///< by level; 1 for what is no memory
  BigCount total() const;
};
MapSpaceSize map_space_size(const Layer& layer, const Accelerator& accelerator, const Flexibility& flexibility,
                            Factorization rule);

/// QuickFlow's map-space size, valid and invalid mappings alike:
///     (|D|!)^Lm * product over dims d and primes p of binomial(v_p(d) + L - 1, L - 1).
BigCount quickflow_map_space_size(const Layer& layer, int levels, int memories);
/// L = memories plus sides of fanouts with more than one unit (QuickFlow's fanouts have one side each).
BigCount quickflow_map_space_size(const Layer& layer, const Accelerator& accelerator);

}  // namespace pliant
