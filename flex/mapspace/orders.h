// SPDX-License-Identifier: Apache-2.0
// Loop orders of one memory: how many a rule allows, and how many differ in the reuse they give.
#pragma once

#include "core/big_count.h"
#include "core/flexibility.h"
#include "core/layer.h"

namespace pliant {

/// Orders of the loops over `dims` that the rule allows (any of its patterns; an empty rule allows all).
BigCount count_orders(const Layer& layer, DimSet dims, const OrderRule& rule);

/// Orders of the loops over all dims of size > 1 that differ in reuse at one memory (QuickFlow, IV-B). Two orders are
/// equal when for each tensor
///   (1) the innermost loop coupled to it stands in the same position,
///   (2) that loop is over the same dim, if the dim is part of a sum in the tensor's index (its tiles then overlap),
///   and (3) the loops inside it are over the same dims, in any order.
/// Without halo reuse condition (2) falls away. A plain convolution has 21 (11), GEMM 3 (3).
BigCount count_reuse_distinct_orders(const Layer& layer, bool halo_reuse = true);

}  // namespace pliant
