// SPDX-License-Identifier: Apache-2.0
// Random small layers, accelerators and mappings for tests that compare two implementations.
#pragma once

#include <random>

#include "core/accelerator.h"
#include "core/layer.h"
#include "core/mapping.h"

namespace pliant::reference {

using Random = std::mt19937_64;

/// Uniform in [low, high]. Written out so that every standard library draws the same cases.
Count pick(Random& random, Count low, Count high);

enum class Kind { kGemm, kConv, kEinsum };

/// At most max_macs MACs. Convolutions are plain, strided, dilated, grouped, depthwise, transposed and batched by
/// turns; einsums have up to three terms per index and dims that occur in two indices.
Layer random_layer(Random& random, Kind kind, Count max_macs);

/// Two to four memories; up to two fanouts in every gap, before the first memory excluded; anything may bypass.
/// special_networks: some fanouts lack multicast or reduction, some have partial multicast.
Accelerator random_accelerator(Random& random, bool special_networks);
/// Elements that are not as wide as words, networks with energy, systolic arrays; each in some of the accelerators.
void add_widths_and_networks(Random& random, Accelerator& accelerator);

/// Loops anywhere, within the fanouts; every tensor is kept somewhere.
Mapping random_mapping(Random& random, const Layer& layer, const Accelerator& accelerator, Factorization rule);

}  // namespace pliant::reference
