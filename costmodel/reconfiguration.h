// SPDX-License-Identifier: Apache-2.0
// What a flexible design must be told before a layer runs, axis by axis, and how long that takes. It is no part of a
// mapping's cost: study `area` says what share of a network it is (docs/model.md, "Reconfiguration").
#pragma once

#include "core/accelerator.h"

namespace pliant {

/// Bits of configuration by axis T, O, P, S; none where an axis is fixed.
struct ConfigurationBits {
  PerAxis<double> shared{};  ///< one write reaches all copies of a level, and units find their own setting from it
  PerAxis<double> each{};    ///< every copy and every unit is written by itself
  double total_shared() const;
  double total_each() const;
};

/// For layers of so many dims.
ConfigurationBits configuration_bits(const Accelerator& accelerator, const Flexibility& flexibility, int dims);

/// Over a bus that takes so many bits in a cycle; whole cycles.
double reconfiguration_cycles(double bits, double bits_per_cycle);

}  // namespace pliant
