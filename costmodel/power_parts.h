// SPDX-License-Identifier: Apache-2.0
// Whose power it is: the chip's, that of the memory beside it, and how much of both leaks.
#pragma once

#include <optional>

#include "core/accelerator.h"

namespace pliant {

/// Beside the chip: the part of a device table, or a memory without end, which no chip has.
inline bool is_off_chip(const Level& level) {
  return level.is_memory() && (level.memory().off_chip || !level.memory().capacity_words);
}

/// Energy by where it is spent, in pJ; leakage is part of both.
struct EnergyParts {
  double chip = 0, off_chip = 0, leakage = 0;
  /// Accesses (or MACs) of a level, and what it leaks.
  void add(const Level& level, double energy_pj, double leakage_pj) {
    (is_off_chip(level) ? off_chip : chip) += energy_pj + leakage_pj;
    leakage += leakage_pj;
  }
};

/// Average power, in W.
struct PowerParts {
  double chip_w = 0, off_chip_w = 0, leakage_w = 0;
};
inline std::optional<PowerParts> power_parts(const EnergyParts& energy, std::optional<double> latency_s) {
  if (!latency_s || !(*latency_s > 0)) return std::nullopt;
  const double watts_per_pj = 1e-12 / *latency_s;
  return PowerParts{energy.chip * watts_per_pj, energy.off_chip * watts_per_pj, energy.leakage * watts_per_pj};
}

}  // namespace pliant
