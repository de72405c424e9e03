// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/render_physical.h"

#include <fmt/format.h>

#include <array>
#include <span>

namespace pliant {
namespace {

using nlohmann::ordered_json;

/// The value in the largest unit, each a thousand of the one before, that keeps it above 1.
std::string in_units(double value, std::span<const char* const> units) {
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.4g} {}", value, units[unit]);
}

}  // namespace

std::string readable_energy(double pj) {
  static constexpr std::array kUnits{"pJ", "nJ", "uJ", "mJ", "J"};
  return in_units(pj, kUnits);
}

std::string readable_edp(double pj_cycles) {
  static constexpr std::array kUnits{"pJ x cycles", "nJ x cycles", "uJ x cycles", "mJ x cycles",
                                     "J x cycles",  "kJ x cycles", "MJ x cycles", "GJ x cycles"};
  return in_units(pj_cycles, kUnits);
}

std::string readable_area(double um2) {
  return um2 > 0 && um2 < 1e4 ? fmt::format("{:.4g} um2", um2) : fmt::format("{:.4g} mm2", um2 / 1e6);
}

std::string readable_latency(double seconds) {
  static constexpr std::array kUnits{"ns", "us", "ms", "s"};
  return in_units(seconds * 1e9, kUnits);
}

std::string readable_clock(double hz) {
  static constexpr std::array kUnits{"Hz", "kHz", "MHz", "GHz"};
  return in_units(hz, kUnits);
}

std::string physical_text(const Accelerator& accelerator, const std::optional<Physical>& figures,
                          const Workload::Pass* pass) {
  if (!figures) return "";
  std::string text = fmt::format(
      "at {}: {}, {:.4g} W, {:.4g} mJ, {:.4g} TOPS of {:.4g} at its peak, {:.4g} TOPS/W",
      readable_clock(*accelerator.clock_hz), readable_latency(figures->latency_s), figures->power_w, figures->energy_mj,
      figures->tops, *peak_tops(accelerator.clock_hz, accelerator.peak_macs_per_cycle()), figures->tops_per_w);
  if (pass == nullptr) return text;
  text += fmt::format(", {:.4g} inferences/s", static_cast<double>(pass->inferences) / figures->latency_s);
  if (pass->tokens) text += fmt::format(", {:.4g} tokens/s", static_cast<double>(*pass->tokens) / figures->latency_s);
  return text;
}

ordered_json physical_json(const Accelerator& accelerator, const std::optional<Physical>& figures,
                           const Workload::Pass* pass) {
  const auto real = [](const std::optional<double>& value) { return value ? ordered_json(*value) : ordered_json(); };
  const auto figure = [&](double Physical::*member) {
    return figures ? ordered_json((*figures).*member) : ordered_json();
  };
  ordered_json json{{"clock_hz", real(accelerator.clock_hz)},
                    {"latency_s", figure(&Physical::latency_s)},
                    {"energy_mj", figure(&Physical::energy_mj)},
                    {"power_w", figure(&Physical::power_w)},
                    {"tops", figure(&Physical::tops)},
                    {"peak_tops", real(peak_tops(accelerator.clock_hz, accelerator.peak_macs_per_cycle()))},
                    {"tops_per_w", figure(&Physical::tops_per_w)}};
  if (pass == nullptr) return json;
  const auto per_second = [&](const std::optional<Count>& count) {
    return figures && count ? ordered_json(static_cast<double>(*count) / figures->latency_s) : ordered_json();
  };
  json["inferences_per_s"] = per_second(pass->inferences);
  json["tokens_per_s"] = per_second(pass->tokens);
  return json;
}

std::string power_text(const Accelerator& accelerator, const std::optional<PowerParts>& power) {
  if (!power) return "";
  std::string beside;  // names of the memories beside the chip
  for (const Level& level : accelerator.levels)
    if (is_off_chip(level)) beside += (beside.empty() ? "" : " and ") + level.name;
  std::string text = fmt::format("chip {:.4g} W", power->chip_w);
  if (!beside.empty()) text += fmt::format(", {} {:.4g} W", beside, power->off_chip_w);
  if (power->leakage_w > 0) text += fmt::format("; {:.4g} W of it leaks", power->leakage_w);
  return text;
}

ordered_json power_json(const std::optional<PowerParts>& power) {
  const auto part = [&](double PowerParts::*member) { return power ? ordered_json((*power).*member) : ordered_json(); };
  return {{"chip_power_w", part(&PowerParts::chip_w)},
          {"off_chip_power_w", part(&PowerParts::off_chip_w)},
          {"leakage_power_w", part(&PowerParts::leakage_w)}};
}

double traffic_bits(const LevelCost& level, const Memory& memory) {
  double words = 0;
  for (const TensorCost& tensor : level.tensors) words += tensor.words_read + tensor.words_written;
  return words * memory.word_bits;
}

}  // namespace pliant
