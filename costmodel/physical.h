// SPDX-License-Identifier: Apache-2.0
// Seconds, watts and operations: what cycles and picojoules are at a clock.
#pragma once

#include <optional>

namespace pliant {

/// A multiply-accumulate is two operations.
inline constexpr double kOperationsPerMac = 2;

struct Physical {
  double latency_s = 0;
  double energy_mj = 0;
  double power_w = 0;  ///< average: energy / latency
  double tops = 0;     ///< achieved, 1e12 operations per second of useful MACs
  double tops_per_w = 0;
};

/// nullopt without a clock. `macs` are those of the layers, not those that padding adds.
std::optional<Physical> physical(std::optional<double> clock_hz, double energy_pj, double cycles, double macs);

/// 1e9 bytes per second.
double gigabytes_per_second(double bits, double latency_s);

/// Every unit busy in every cycle.
std::optional<double> peak_tops(std::optional<double> clock_hz, double macs_per_cycle);

}  // namespace pliant
