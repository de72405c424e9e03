// SPDX-License-Identifier: Apache-2.0
// The fast model against the walked loop nest, count by count.
#pragma once

#include <string>

#include "core/accelerator.h"
#include "core/layer.h"
#include "core/mapping.h"
#include "support/small_cases.h"

namespace pliant::reference {

/// "" when every count, tile, energy and cycle is the same; else what differs and the whole case.
std::string disagreement(const Layer& layer, const Accelerator& accelerator, const Mapping& mapping);

struct Comparison {
  int cases = 0, differing = 0;
  std::string first;  ///< the first disagreement
};

/// Draws random cases of one kind and compares each under the given conventions.
Comparison compare_random(std::uint64_t seed, int cases, Kind kind, Factorization rule, const Conventions& conventions,
                          bool special_networks, Count max_macs);

}  // namespace pliant::reference
