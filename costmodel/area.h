// SPDX-License-Identifier: Apache-2.0
// Area of a design: components plus what flexibility adds.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/accelerator.h"

namespace pliant {

struct Area {
  double base = 0;                      ///< parts no level owns
  std::vector<double> levels;           ///< by level, all instances
  std::array<double, 4> flexibility{};  ///< overhead of T, O, P, S as flexible as this design is
  double total() const;
};

/// How much of an axis' full overhead each freedom costs: none, half (as the published PartFlex design) or all. How
/// free an axis is, core/flexibility_class.h says.
double overhead_share(Freedom freedom);

/// Components as built: the area of the design without any flexibility.
Area component_area_um2(const Accelerator& accelerator);

/// Components as built, plus the overhead of every axis (docs/model.md, "Area").
Area area_um2(const Accelerator& accelerator);

}  // namespace pliant
