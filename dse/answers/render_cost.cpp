// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/render_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "costmodel/area.h"
#include "dse/answers/render_physical.h"
#include "dse/answers/text_table.h"

namespace pliant {
namespace {

using nlohmann::ordered_json;

/// Whole numbers stay whole in JSON.
ordered_json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == std::floor(value) && std::abs(value) < 9e15) return static_cast<Count>(value);
  return value;
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

double flexibility_um2(const Accelerator& accelerator) {
  const Area area = area_um2(accelerator);
  return std::accumulate(area.flexibility.begin(), area.flexibility.end(), 0.0);
}

std::optional<Physical> in_time(const PricedMapping& priced) {
  const Totals& totals = priced.report.totals;
  return physical(priced.accelerator.clock_hz, totals.energy_pj, totals.cycles,
                  static_cast<double>(priced.layer.macs()));
}

std::optional<PowerParts> power_of(const PricedMapping& priced) {
  const auto figures = in_time(priced);
  EnergyParts energy;
  for (std::size_t l = 0; l < priced.report.levels.size(); ++l)
    energy.add(priced.accelerator.levels[l], priced.report.levels[l].energy_pj, priced.report.levels[l].leakage_pj);
  energy.add(priced.accelerator.levels.back(), priced.report.mac_energy_pj, priced.report.compute_leakage_pj);
  return power_parts(energy, figures ? std::optional(figures->latency_s) : std::nullopt);
}

/// Bytes per second through a memory's ports; empty without a clock.
std::optional<double> gb_per_s(const PricedMapping& priced, std::size_t level) {
  const auto figures = in_time(priced);
  if (!figures) return std::nullopt;
  return gigabytes_per_second(traffic_bits(priced.report.levels[level], priced.accelerator.levels[level].memory()),
                              figures->latency_s);
}

std::string words(double count) { return count == 0 ? "-" : readable_count(count); }

std::string energy_table(const PricedMapping& priced, bool ascii) {
  const CostReport& report = priced.report;
  const double total = report.totals.energy_pj;
  TextTable table({"level", "tensor<", "reads", "fills", "updates", "energy", "share", "<"});
  const auto row = [&](std::string level, std::string what, std::string reads, std::string fills, std::string updates,
                       double energy) {
    table.add({std::move(level), std::move(what), std::move(reads), std::move(fills), std::move(updates),
               readable_energy(energy), percent(energy / total), share_bar(energy / total, ascii)});
  };
  for (const LevelCost& level : report.levels) {
    std::string name = level.name;
    for (std::size_t x = 0; x < level.tensors.size(); ++x) {
      const TensorCost& tensor = level.tensors[x];
      if (!tensor.kept && tensor.energy_pj == 0) continue;  // a network has energy and keeps nothing
      row(std::exchange(name, ""), priced.layer.tensors[x].name, words(tensor.reads), words(tensor.fills),
          words(tensor.updates), tensor.energy_pj);
    }
    if (level.leakage_pj > 0) row(std::exchange(name, ""), "leakage", "", "", "", level.leakage_pj);
  }
  const std::string& compute = priced.accelerator.levels.back().name;
  row(compute, fmt::format("{} MACs", readable_count(report.macs)), "", "", "", report.mac_energy_pj);
  if (report.compute_leakage_pj > 0) row("", "leakage", "", "", "", report.compute_leakage_pj);
  return table.text("  ");
}

std::string time_table(const PricedMapping& priced, bool ascii) {
  const CostReport& report = priced.report;
  TextTable table({"what", "cycles", "of runtime", "<"});
  const auto row = [&](const std::string& what, double cycles) {
    const double share = cycles / report.totals.cycles;
    table.add({what, fmt::format("{:.0f}", cycles), percent(share), share_bar(share, ascii)});
  };
  row(priced.accelerator.levels.back().name + " steps", report.totals.steps);
  for (const LevelCost& level : report.levels) {
    if (level.fill_cycles > 0) row(level.name + " steps, fill and drain", report.totals.steps + level.fill_cycles);
    if (level.read_cycles > 0) row(level.name + " read", level.read_cycles);
    if (level.write_cycles > 0) row(level.name + " write", level.write_cycles);
    if (level.bus_cycles > 0) row(level.name + " bus", level.bus_cycles);
  }
  return table.text("  ");
}

std::string buffer_table(const PricedMapping& priced, bool ascii) {
  const bool clocked = priced.accelerator.clock_hz.has_value();
  TextTable table({"memory", "copies used", "built", "words used", "of", "full", "<", clocked ? "GB/s" : ""});
  for (std::size_t l = 0; l < priced.report.levels.size(); ++l) {
    const LevelCost& level = priced.report.levels[l];
    if (!level.memory) continue;
    const auto traffic = gb_per_s(priced, l);
    const bool bounded = std::isfinite(level.capacity_words);
    const double full = bounded ? level.used_words / level.capacity_words : 0;
    table.add({level.name, fmt::format("{:.4g}", level.instances_average), fmt::format("{:.0f}", level.instances_built),
               fmt::format("{:.0f}", level.used_words),
               bounded ? fmt::format("{:.0f}", level.capacity_words) : "unbounded", bounded ? percent(full) : "",
               share_bar(full, ascii), traffic ? fmt::format("{:.4g}", *traffic) : ""});
  }
  return table.text("  ");
}

/// "flexibility 0.002735 mm2 of it (the accelerator's file)".
std::string flexibility_words(const Accelerator& accelerator) {
  if (accelerator.flexibility_area_from.empty()) return "flexibility included";
  return fmt::format("flexibility {:.4g} mm2 of it ({})", flexibility_um2(accelerator) / 1e6,
                     accelerator.flexibility_area_from);
}

std::string headline(const PricedMapping& priced) {
  const CostReport& report = priced.report;
  const Totals& totals = report.totals;
  std::string bound = report.bound_by;
  if (totals.bound.port >= 0)
    bound += fmt::format("{}, {:.3g}x the compute steps",
                         report.bound_by == "compute"         ? " with fill and drain"
                         : report.bound_by.ends_with(" fill") ? " and drain"
                                                              : " bandwidth",
                         totals.cycles / totals.steps);
  TextTable table({"energy", readable_energy(totals.energy_pj) + "<",
                   fmt::format("{:.6g} pJ, {:.3g} pJ per MAC<", totals.energy_pj, totals.energy_pj / report.macs)});
  table.add({"runtime", fmt::format("{:.0f} cycles", totals.cycles), "bound by " + bound});
  table.add({"EDP", fmt::format("{:.5g}", totals.edp()), "pJ x cycles"});
  table.add({"utilization", percent(totals.utilization),
             fmt::format("of {:.0f} MAC units over the whole runtime", report.units)});
  if (const auto figures = in_time(priced)) {
    const double peak = *peak_tops(priced.accelerator.clock_hz, priced.accelerator.peak_macs_per_cycle());
    table.add({"latency", readable_latency(figures->latency_s),
               fmt::format("at {}", readable_clock(*priced.accelerator.clock_hz))});
    table.add({"power", fmt::format("{:.4g} W", figures->power_w),
               "average over the runtime: " + power_text(priced.accelerator, power_of(priced))});
    table.add({"throughput", fmt::format("{:.4g} TOPS", figures->tops),
               fmt::format("of {:.4g} at its peak; {:.4g} TOPS/W", peak, figures->tops_per_w)});
  }
  if (report.area_um2 > 0)
    table.add({"area", fmt::format("{:.4g} mm2", report.area_um2 / 1e6), flexibility_words(priced.accelerator)});
  return table.text("  ");
}

std::string indented(const std::string& text) {
  std::string all = "  ";
  for (std::size_t i = 0; i < text.size(); ++i) {
    all += text[i];
    if (text[i] == '\n' && i + 1 < text.size()) all += "  ";
  }
  return all;
}

/// What a network costs, and a systolic array's fill; keys of fanouts that have any.
void network_json(const PricedMapping& priced, std::size_t l, ordered_json& item) {
  const LevelCost& level = priced.report.levels[l];
  const Fanout& fanout = priced.accelerator.levels[l].fanout();
  if (fanout.systolic) item["fill_cycles"] = number(level.fill_cycles);
  if (fanout.pj_per_bit == 0) return;
  item["energy_pj"] = number(level.energy_pj);
  for (std::size_t x = 0; x < level.tensors.size(); ++x)
    if (level.tensors[x].energy_pj > 0)
      item["tensors"][priced.layer.tensors[x].name] = {{"energy_pj", number(level.tensors[x].energy_pj)}};
}

}  // namespace

std::string share_bar(double share, bool ascii) {
  constexpr int kWidth = 24;
  const int cells = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * kWidth));
  std::string text;
  for (int i = 0; i < cells; ++i) text += ascii ? "#" : "█";
  return text;
}

ordered_json mapping_json(const PricedMapping& priced) {
  const Layer& layer = priced.layer;
  ordered_json json;
  json["pliant"] = "mapping";
  json["accelerator"] = priced.accelerator.name;
  json["layer"] = layer.name;
  json["factorization"] = to_string(priced.factorization);
  json["levels"] = ordered_json::array();
  for (std::size_t l = 0; l + 1 < priced.mapping.levels.size(); ++l) {
    const LevelMapping& own = priced.mapping.levels[l];
    ordered_json item;
    item["level"] = priced.accelerator.levels[l].name;
    if (priced.accelerator.levels[l].is_memory()) {
      item["temporal"] = ordered_json::array();
      item["keeps"] = ordered_json::array();
      for (const Loop& loop : own.temporal) item["temporal"].push_back({{layer.dims[loop.dim].name, loop.bound}});
      for (std::size_t x = 0; x < layer.tensors.size(); ++x)
        if ((own.keeps >> x & 1U) != 0) item["keeps"].push_back(layer.tensors[x].name);
    } else {
      for (const Side side : {Side::kRows, Side::kCols})
        for (const SpatialLoop& loop : own.spatial)
          if (loop.side == side)
            item[side == Side::kRows ? "rows" : "cols"].push_back({{layer.dims[loop.dim].name, loop.bound}});
    }
    json["levels"].push_back(std::move(item));
  }
  for (std::size_t d = 0; d < priced.mapping.padded.size(); ++d)
    json["padded"][layer.dims[d].name] = priced.mapping.padded[d];
  return json;
}

ordered_json cost_json(const PricedMapping& priced) {
  const CostReport& report = priced.report;
  ordered_json json;
  json["accelerator"] = priced.accelerator.name;
  json["layer"] = priced.layer.name;
  json["conventions"] = priced.accelerator.conventions.name();
  json["energy_pj"] = number(report.totals.energy_pj);
  json["runtime_cycles"] = number(report.totals.cycles);
  json["edp_pj_cycles"] = number(report.totals.edp());
  json["area_um2"] = number(report.area_um2);
  json["flexibility_area_um2"] = number(flexibility_um2(priced.accelerator));
  json["flexibility_area_from"] = priced.accelerator.flexibility_area_from;
  json["utilization"] = report.totals.utilization;
  json["bound_by"] = report.bound_by;
  json["macs"] = number(report.macs);
  json["compute_steps"] = number(report.totals.steps);
  json.update(physical_json(priced.accelerator, in_time(priced), nullptr));
  json.update(power_json(power_of(priced)));
  json["levels"] = ordered_json::array();
  for (std::size_t l = 0; l < report.levels.size(); ++l) {
    const LevelCost& level = report.levels[l];
    ordered_json item;
    item["name"] = level.name;
    item["kind"] = level.memory ? "memory" : "fanout";
    item["instances"] = {{"built", number(level.instances_built)},
                         {"peak", number(level.instances_peak)},
                         {"average", number(level.instances_average)}};
    if (level.memory) {
      item["capacity_words"] = number(level.capacity_words);
      item["used_words"] = number(level.used_words);
      item["read_cycles"] = number(level.read_cycles);
      item["write_cycles"] = number(level.write_cycles);
      item["bus_cycles"] = number(level.bus_cycles);
      item["energy_pj"] = number(level.energy_pj);
      item["leakage_pj"] = number(level.leakage_pj);
      const auto traffic = gb_per_s(priced, l);
      item["gb_per_s"] = traffic ? ordered_json(*traffic) : ordered_json();
      item["tensors"] = ordered_json::object();
      for (std::size_t x = 0; x < level.tensors.size(); ++x) {
        const TensorCost& tensor = level.tensors[x];
        if (!tensor.kept) continue;
        item["tensors"][priced.layer.tensors[x].name] = {
            {"reads", number(tensor.reads)},           {"fills", number(tensor.fills)},
            {"updates", number(tensor.updates)},       {"drains", number(tensor.drains)},
            {"words_read", number(tensor.words_read)}, {"words_written", number(tensor.words_written)},
            {"tile_words", number(tensor.tile_words)}, {"energy_pj", number(tensor.energy_pj)}};
      }
    }
    if (priced.accelerator.levels[l].is_fanout()) network_json(priced, l, item);
    json["levels"].push_back(std::move(item));
  }
  json["compute"] = {{"name", priced.accelerator.levels.back().name},
                     {"units", number(report.units)},
                     {"energy_pj", number(report.mac_energy_pj)},
                     {"leakage_pj", number(report.compute_leakage_pj)}};
  json["mapping"] = mapping_json(priced);
  return json;
}

std::string cost_text(const PricedMapping& priced, bool ascii) {
  std::string text = fmt::format("{} on {}, conventions {}\n\n", priced.layer.name, priced.accelerator.name,
                                 priced.accelerator.conventions.name());
  text += headline(priced);
  text += "\nwhere energy goes (words, all copies together)\n" + energy_table(priced, ascii);
  text += "\nwhere time goes (all of these overlap; the longest is the runtime)\n" + time_table(priced, ascii);
  text += std::string(priced.accelerator.clock_hz
                          ? "\nhow full the buffers are (per copy), and what passes them (all copies)\n"
                          : "\nhow full the buffers are (per copy)\n") +
          buffer_table(priced, ascii);
  text += "\nloop nest\n" + indented(to_loop_nest(priced.layer, priced.accelerator, priced.mapping));
  return text;
}

std::string violations_text(const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& violation : violations)
    text += fmt::format("  {}: {}\n", to_string(violation.rule), violation.message);
  return text;
}

ordered_json violations_json(const std::vector<Violation>& violations) {
  ordered_json list = ordered_json::array();
  for (const Violation& violation : violations) {
    list.push_back({{"rule", to_string(violation.rule)},
                    {"level", violation.level},
                    {"tensor", violation.tensor},
                    {"dim", violation.dim},
                    {"needed", number(violation.needed)},
                    {"available", number(violation.available)},
                    {"message", violation.message}});
  }
  return list;
}

}  // namespace pliant
