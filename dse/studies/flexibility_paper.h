// SPDX-License-Identifier: Apache-2.0
// Bandwidths, as the studies of the flexibility paper write them.
#pragma once

#include <array>

namespace pliant {

/// The paper prints no bandwidth. Bytes per cycle of the DRAM, chosen once for its isolation study: of the bandwidths
/// that the study sweeps, the one under which most of the printed speedups come out (docs/studies/isolation.md).
inline constexpr const char* kPaperBandwidth = "409.6";
/// Where a bandwidth must be written and none shall limit.
inline constexpr const char* kNoLimit = "1000000";

inline constexpr const char* kBandwidthKey = "DRAM.bandwidth";
inline constexpr const char* kBandwidthColumn = "set_DRAM_bandwidth";

}  // namespace pliant
