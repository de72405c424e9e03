// SPDX-License-Identifier: Apache-2.0
// The hardware of flexibility, part by part, as Section 3.4 of the flexibility paper lists it (its Figure 4), in bits
// of register or multiplexer. The paper prints one area for each axis at one design (Table 3); shared out over the bits
// it gives the area of each part there, and of other arrays and buffers.
#pragma once

#include <string>
#include <vector>

#include "core/accelerator.h"
#include "core/flexibility.h"

namespace pliant {

struct FlexibilityPart {
  Axis axis = Axis::kTiles;
  const char* name = "";
  double bits = 0;
};

/// Of a design with one buffer and one array, as flexref.
std::vector<FlexibilityPart> flexibility_parts(const Accelerator& accelerator);

/// Of one axis together.
double part_bits(const std::vector<FlexibilityPart>& parts, Axis axis);

}  // namespace pliant
