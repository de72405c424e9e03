// SPDX-License-Identifier: Apache-2.0
// What the exact mapper knows of a layer before it searches: the least that any mapping moves and takes.
#pragma once

#include "core/accelerator.h"
#include "core/mapping.h"
#include "dse/design/network_bound.h"

namespace pliant {

/// Every word of every tensor moves once between the best keepers for it, through the ports outside all arrays in no
/// less than their time, and the units that the layer can use are all busy. Some ten microseconds.
LayerBound floor_bound(const Layer& layer, const Accelerator& accelerator, Factorization rule);

}  // namespace pliant
