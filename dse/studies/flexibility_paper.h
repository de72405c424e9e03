// SPDX-License-Identifier: Apache-2.0
// Bandwidths, as the studies of the flexibility paper write them.
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

/// The bandwidth of both directions together, written as above.
inline std::string both_halves(const std::string& half) { return fmt::format("{}", 2 * std::stod(half)); }

}  // namespace pliant
