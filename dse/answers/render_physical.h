// SPDX-License-Identifier: Apache-2.0
// Seconds, watts and operations as text for people and as JSON for scripts.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/accelerator.h"
#include "core/layer.h"
#include "costmodel/physical.h"
#include "costmodel/power_parts.h"
#include "costmodel/report.h"

namespace pliant {

/// 57.21 uJ: the largest unit that keeps the number above 1.
std::string readable_energy(double pj);
/// 57.21 uJ x cycles: energy-delay product without a clock.
std::string readable_edp(double pj_cycles);
/// 0.382 mm2; below a hundredth of that 450 um2.
std::string readable_area(double um2);
/// 1.042 ms, 33.3 us; time of the accelerator.
std::string readable_latency(double seconds);
/// 1 GHz, 800 MHz.
std::string readable_clock(double hz);

/// "at 1 GHz: 1.04 ms, 1.46 W, 1.52 mJ, 0.577 TOPS of 2.05 at its peak, 0.395 TOPS/W"; empty without a clock. With a
/// pass, what it is worth per second.
std::string physical_text(const Accelerator& accelerator, const std::optional<Physical>& figures,
                          const Workload::Pass* pass);

/// clock_hz, latency_s, energy_mj, power_w, tops, peak_tops and tops_per_w; null without a clock. With a pass also
/// inferences_per_s and tokens_per_s.
nlohmann::ordered_json physical_json(const Accelerator& accelerator, const std::optional<Physical>& figures,
                                     const Workload::Pass* pass);

/// "chip 0.35 W, DRAM 1.11 W; 0.02 W of it leaks"; empty without a clock.
std::string power_text(const Accelerator& accelerator, const std::optional<PowerParts>& power);

/// chip_power_w, off_chip_power_w and leakage_power_w; null without a clock.
nlohmann::ordered_json power_json(const std::optional<PowerParts>& power);

/// Bits that pass a memory's ports in both directions, all copies together.
double traffic_bits(const LevelCost& level, const Memory& memory);

}  // namespace pliant
