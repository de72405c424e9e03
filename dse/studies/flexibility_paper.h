// SPDX-License-Identifier: Apache-2.0
// Bandwidths and classes, as the studies of the flexibility paper write them.
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>

namespace pliant {

/// The paper prints no bandwidth. Bytes per cycle of the DRAM, chosen once for all of its studies: of the bandwidths
/// that the isolation study sweeps, the one under which most of the printed speedups come out
/// (docs/studies/isolation.md).
inline constexpr const char* kPaperBandwidth = "409.6";
/// Where a bandwidth must be written and none shall limit.
inline constexpr const char* kNoLimit = "1000000";

/// Half of a bandwidth is for reads and half for writes; the sweeps and their columns have the halves.
inline constexpr std::array<const char*, 2> kBandwidthKeys = {"DRAM.read_bandwidth", "DRAM.write_bandwidth"};
inline constexpr const char* kHalfColumn = "set_DRAM_read_bandwidth";
inline constexpr const char* kPaperHalf = "204.8";

inline std::string half_of(const std::string& bandwidth) { return fmt::format("{}", std::stod(bandwidth) / 2); }

/// ", 25.6 bytes/cycle": ends the name of a finding.
inline std::string under(const std::string& bandwidth) {
  return bandwidth == kNoLimit ? ", no limit" : fmt::format(", {} bytes/cycle", bandwidth);
}

/// "25.6" or "no limit": in a chart.
inline std::string bandwidth_label(const std::string& bandwidth) {
  return bandwidth == kNoLimit ? "no limit" : bandwidth;
}

/// The bandwidth of both directions together, written as above.
inline std::string both_halves(const std::string& half) { return fmt::format("{}", 2 * std::stod(half)); }

/// "T + P, +0.12 %": the axes of a class such as FullFlex-1010 and the area that they add; in a chart.
inline std::string axes_label(const std::string& flexibility, double area_percent) {
  const std::string bits = flexibility.substr(flexibility.find('-') + 1);
  std::string axes;
  for (std::size_t axis = 0; axis < bits.size(); ++axis)
    if (bits[axis] == '1') axes += fmt::format("{}{}", axes.empty() ? "" : " + ", "TOPS"[axis]);
  if (bits == "1111") axes = flexibility.starts_with("Part") ? "all, in part" : "all";
  return fmt::format("{}, +{:.2g} %", axes, area_percent);
}

}  // namespace pliant
