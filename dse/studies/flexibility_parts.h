// SPDX-License-Identifier: Apache-2.0
// The hardware of flexibility, part by part, as Section 3.4 of the flexibility paper lists it (its Figure 4), in bits
// of register or multiplexer. The paper prints one area for each axis at one design (Table 3); shared out over the bits
// it gives the area of each part there, and of other arrays and buffers.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/accelerator.h"
#include "core/flexibility.h"

namespace pliant {

/// Those of Table 3.
inline constexpr std::array kTableAxes = {Axis::kTiles, Axis::kOrders, Axis::kParallel, Axis::kShape};

struct FlexibilityPart {
  Axis axis = Axis::kTiles;
  const char* name = "";
  double bits = 0;
};

/// Of a design with one buffer and one array, as flexref.
std::vector<FlexibilityPart> flexibility_parts(const Accelerator& accelerator);

/// Of one axis together.
double part_bits(const std::vector<FlexibilityPart>& parts, Axis axis);

/// The network of Section 3.4 that brings operands to an array of another shape, one for each of the two operands. The
/// paper does not say which it is, and Table 3 leaves too little room for one: so the least and the most, in bits of
/// multiplexers, and how many of these bits a word passes on its way to a PE.
struct DistributionNetwork {
  const char* name = "";
  double bits = 0, bits_on_the_way = 0;
};
std::vector<DistributionNetwork> distribution_networks(const Accelerator& accelerator);

}  // namespace pliant
