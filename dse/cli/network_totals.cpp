// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/network_totals.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/input/keys.h"
#include "costmodel/report.h"
#include "dse/cli/render_cost.h"
#include "dse/cli/render_physical.h"
#include "dse/cli/text_table.h"

namespace pliant {
namespace {

using nlohmann::ordered_json;

bool has_energy(const Level& level) { return !level.is_fanout() || level.fanout().pj_per_bit > 0; }

void add_layer(NetworkTotals& all, const SearchedLayer& searched) {
  const Task& task = *searched.task;
  const auto count = static_cast<double>(searched.count);
  const CostReport report = price(task.layer, task.accelerator, *searched.result.mapping);
  all.energy_pj += count * searched.result.totals.energy_pj;
  all.cycles += count * searched.result.totals.cycles;
  all.macs += count * static_cast<double>(task.layer.macs());
  std::size_t at = 0;
  for (std::size_t l = 0; l < report.levels.size(); ++l) {
    const LevelCost& level = report.levels[l];
    if (!has_energy(task.accelerator.levels[l])) continue;
    NetworkTotals::Level& sum = all.levels[at++];
    for (std::size_t x = 0; x < level.tensors.size(); ++x)
      sum.by_role[static_cast<std::size_t>(task.layer.tensors[x].role)] += count * level.tensors[x].energy_pj;
    sum.leakage_pj += count * level.leakage_pj;
    if (level.memory) sum.bits += count * traffic_bits(level, task.accelerator.levels[l].memory());
  }
  all.levels[at].macs_pj += count * report.mac_energy_pj;
  all.levels[at].leakage_pj += count * report.compute_leakage_pj;
  auto bound = std::ranges::find(all.bounds, report.bound_by, &NetworkTotals::Bound::what);
  if (bound == all.bounds.end()) bound = all.bounds.insert(bound, {report.bound_by, 0, 0});
  bound->layers += searched.count;
  bound->cycles += count * searched.result.totals.cycles;
}

std::optional<Physical> totals_in_time(const Accelerator& accelerator, const NetworkTotals& totals) {
  if (totals.cycles <= 0) return std::nullopt;
  return physical(accelerator.clock_hz, totals.energy_pj, totals.cycles, totals.macs);
}

std::string network_energy(const NetworkTotals& totals, const std::optional<Physical>& figures, bool ascii) {
  TextTable table(
      {"level", "inputs", "weights", "outputs", "MACs", "leakage", "energy", "share", "<", figures ? "GB/s" : ""});
  const auto cell = [](double pj) { return pj > 0 ? readable_energy(pj) : "-"; };
  for (const NetworkTotals::Level& level : totals.levels) {
    const double share = level.energy_pj() / totals.energy_pj;
    table.add(
        {level.name, cell(level.by_role[0]), cell(level.by_role[1]), cell(level.by_role[2]), cell(level.macs_pj),
         cell(level.leakage_pj), cell(level.energy_pj()), fmt::format("{:.1f} %", 100 * share), share_bar(share, ascii),
         figures && level.bits > 0 ? fmt::format("{:.4g}", gigabytes_per_second(level.bits, figures->latency_s)) : ""});
  }
  return table.text("  ");
}

std::string network_time(const NetworkTotals& totals, bool ascii) {
  TextTable table({"bound by", "layers", "cycles", "of runtime", "<"});
  for (const NetworkTotals::Bound& bound : totals.bounds) {
    const double share = bound.cycles / totals.cycles;
    table.add({bound.what, std::to_string(bound.layers), fmt::format("{:.0f}", bound.cycles),
               fmt::format("{:.1f} %", 100 * share), share_bar(share, ascii)});
  }
  return table.text("  ");
}

}  // namespace

NetworkTotals network_totals(const std::vector<SearchedLayer>& layers) {
  NetworkTotals all;
  for (const Level& level : layers.front().task->accelerator.levels)
    if (has_energy(level)) all.levels.push_back({level.name, {}, 0, 0, 0});
  for (const SearchedLayer& searched : layers) {
    all.solve_seconds += searched.result.seconds;
    all.complete &= searched.result.mapping.has_value();
    if (!searched.result.mapping) continue;
    all.certified &= searched.result.certified;
    add_layer(all, searched);
  }
  std::ranges::stable_sort(all.bounds, std::ranges::greater{}, &NetworkTotals::Bound::cycles);
  return all;
}

std::string totals_text(const std::vector<SearchedLayer>& layers, const Workload::Pass& pass, std::string_view mapper,
                        bool ascii) {
  const Accelerator& accelerator = layers.front().task->accelerator;
  const NetworkTotals all = network_totals(layers);
  const auto figures = totals_in_time(accelerator, all);
  std::string text =
      fmt::format("{}energy {:.6g} uJ, {:.0f} cycles, EDP of the sums {:.6g} pJ x cycles; mapper {}, {}\n",
                  all.complete ? "total: " : "total of what fits: ", all.energy_pj * 1e-6, all.cycles,
                  all.energy_pj * all.cycles, mapper, readable_search_time(all.solve_seconds));
  if (figures) text += physical_text(accelerator, figures, &pass) + "\n";
  if (all.bounds.empty()) return text;
  text += "\nwhere the network's energy goes\n" + network_energy(all, figures, ascii);
  return text + "\nwhat bounds its time\n" + network_time(all, ascii);
}

ordered_json totals_json(const std::vector<SearchedLayer>& layers, const Workload::Pass& pass) {
  const Accelerator& accelerator = layers.front().task->accelerator;
  const NetworkTotals all = network_totals(layers);
  const auto figures = totals_in_time(accelerator, all);
  ordered_json json{{"energy_pj", all.energy_pj},
                    {"runtime_cycles", all.cycles},
                    {"edp_pj_cycles", all.energy_pj * all.cycles},
                    {"certified", all.certified && all.complete},
                    {"complete", all.complete},
                    {"solve_seconds", all.solve_seconds}};
  json.update(physical_json(accelerator, figures, &pass));
  json["energy_by_level"] = ordered_json::array();
  for (const NetworkTotals::Level& level : all.levels) {
    ordered_json item{{"level", level.name}, {"energy_pj", level.energy_pj()}};
    for (std::size_t r = 0; r < kRoles; ++r) item[std::string(keys::kRoleNames[r]) + "_pj"] = level.by_role[r];
    item["macs_pj"] = level.macs_pj;
    item["leakage_pj"] = level.leakage_pj;
    item["gb_per_s"] =
        figures && level.bits > 0 ? ordered_json(gigabytes_per_second(level.bits, figures->latency_s)) : ordered_json();
    json["energy_by_level"].push_back(std::move(item));
  }
  json["time_by_bound"] = ordered_json::array();
  for (const NetworkTotals::Bound& bound : all.bounds)
    json["time_by_bound"].push_back(
        {{"bound_by", bound.what}, {"layers", bound.layers}, {"runtime_cycles", bound.cycles}});
  return json;
}

}  // namespace pliant
