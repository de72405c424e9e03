// SPDX-License-Identifier: Apache-2.0
// How small the product of energy and cycles of a network can be, from what is proven of its layers.
#pragma once

#include <vector>

namespace pliant::audit {

/// Every mapping of a layer has at least this energy, so many cycles, and this product of both; it runs `times` times.
struct Region {
  double energy = 0, cycles = 0, product = 0, times = 1;
};

/// A lower bound of (sum of energies) * (sum of cycles) over all choices of a point in each region: as sharp as it can
/// be, but for a share of about 1e-10; where it is at least `enough` it may be less sharp.
double least_product(const std::vector<Region>& layers, double enough);

}  // namespace pliant::audit
