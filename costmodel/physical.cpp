// SPDX-License-Identifier: Apache-2.0
#include "costmodel/physical.h"

namespace pliant {

std::optional<Physical> physical(std::optional<double> clock_hz, double energy_pj, double cycles, double macs) {
  if (!clock_hz) return std::nullopt;
  Physical p;
  p.latency_s = cycles / *clock_hz;
  p.energy_mj = energy_pj * 1e-9;
  p.power_w = energy_pj * 1e-12 / p.latency_s;
  p.tops = kOperationsPerMac * macs / p.latency_s * 1e-12;
  p.tops_per_w = kOperationsPerMac * macs / energy_pj;  // operations per pJ
  return p;
}

double gigabytes_per_second(double bits, double latency_s) { return bits / 8 / latency_s * 1e-9; }

std::optional<double> peak_tops(std::optional<double> clock_hz, double macs_per_cycle) {
  if (!clock_hz) return std::nullopt;
  return kOperationsPerMac * macs_per_cycle * *clock_hz * 1e-12;
}

}  // namespace pliant
