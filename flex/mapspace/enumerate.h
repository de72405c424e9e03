// SPDX-License-Identifier: Apache-2.0
// Every mapping that the slots of a small map-space allow, legal or not: with the independent checker's word on each,
// the ground truth that counts and mappers are compared with (`pliant count --enumerate`, tests). The legal ones alone,
// and faster, are in flex/mapspace/legal_walk.h.
#pragma once

#include <functional>

#include "core/accelerator.h"
#include "core/layer.h"
#include "core/mapping.h"

namespace pliant {

/// Visits every combination of factor chains, loop orders and kept tensors that the slots allow, each distinct mapping
/// once; what ties dims together (capacity, units, assignments, allowed orders, fixed tiles) is not applied:
/// core/legality.h judges that. visit returns false to stop, and so does the function then.
bool for_each_mapping(const Layer& layer, const Accelerator& accelerator, const Flexibility& flexibility,
                      Factorization rule, const std::function<bool(const Mapping&)>& visit);

}  // namespace pliant
