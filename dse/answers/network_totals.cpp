// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/network_totals.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/input/keys.h"
#include "costmodel/power_parts.h"
#include "costmodel/report.h"
#include "dse/answers/render_cost.h"
#include "dse/answers/render_physical.h"
#include "dse/answers/text_table.h"
#include "dse/mappers/idle_units.h"

namespace pliant {
namespace {

using nlohmann::ordered_json;
using residency::Home;
using residency::kOutside;

constexpr const char* kOperators = "operators without MACs";
constexpr const char* kLoads = "loading weights that stay";
constexpr const char* kTileMoves = "moving tiles that are held";

bool has_energy(const Level& level) { return !level.is_fanout() || level.fanout().pj_per_bit > 0; }

NetworkTotals empty_totals(const Accelerator& accelerator) {
  NetworkTotals all;
  for (std::size_t l = 0; l < accelerator.levels.size(); ++l)
    if (has_energy(accelerator.levels[l]))
      all.levels.push_back({accelerator.levels[l].name, static_cast<int>(l), {}, 0, 0, 0, 0});
  return all;
}

void add_bound(NetworkTotals& all, const std::string& what, Count count, double cycles) {
  auto bound = std::ranges::find(all.bounds, what, &NetworkTotals::Bound::what);
  if (bound == all.bounds.end()) bound = all.bounds.insert(bound, {what, 0, 0});
  bound->layers += count;
  bound->cycles += cycles;
}

void add_layer(NetworkTotals& all, const Task& task, const Mapping& mapping, const Totals& totals, Count times) {
  const auto count = static_cast<double>(times);
  const CostReport report = price(task.layer, task.accelerator, mapping);
  all.parts.layers.count += times;
  all.parts.layers.energy_pj += count * totals.energy_pj;
  all.parts.layers.cycles += count * totals.cycles;
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
  add_bound(all, report.bound_by, times, count * totals.cycles);
}

/// Words that move without a layer, one `share` of them, and what leaks meanwhile.
void add_moves(NetworkTotals& all, const Accelerator& accelerator, const residency::WordsByLevel& words, Role read,
               Role written, double cycles, double share) {
  for (NetworkTotals::Level& sum : all.levels) {
    const Level& level = accelerator.levels[static_cast<std::size_t>(sum.level)];
    const auto instances = static_cast<double>(accelerator.instances(sum.level));
    if (level.is_compute()) sum.leakage_pj += cycles * instances * level.compute().leak_pj_per_cycle;
    if (!level.is_memory()) continue;
    sum.leakage_pj += cycles * instances * level.memory().leak_pj_per_cycle;
    const auto moved = words.find(sum.level);
    if (moved == words.end()) continue;
    sum.by_role[static_cast<std::size_t>(read)] += share * moved->second.read * level.memory().read_pj;
    sum.by_role[static_cast<std::size_t>(written)] += share * moved->second.written * level.memory().write_pj;
    sum.bits += share * (moved->second.read + moved->second.written) * level.memory().word_bits;
  }
}

/// Single layers and operators of a run, of whatever search.
template <class Search, class Optimum>
void add_steps(NetworkTotals& all, const Search& search, const std::vector<Task>& rows, const Optimum& best) {
  const Accelerator& accelerator = rows.front().accelerator;
  const residency::LiveTensors& live = search.live();
  for (std::size_t s = 0; s < best.steps.size(); ++s) {
    const residency::Step& step = live.steps[s];
    const residency::StepChoice& choice = best.steps[s];
    for (const residency::StepPart& part : choice.parts)
      add_layer(all, search.task(choice.variant), part.mapping, part.totals, part.count);
    if (step.row >= 0 || !step.costs()) continue;
    std::vector<Home> reads;
    for (const residency::Read& read : step.reads) reads.push_back(best.homes[static_cast<std::size_t>(read.tensor)]);
    const Home made = step.makes >= 0 ? best.homes[static_cast<std::size_t>(step.makes)] : kOutside;
    add_moves(all, accelerator, residency::operator_words(rows, step, live, reads, made), Role::kInput, Role::kOutput,
              choice.cycles, 1);
    if (accelerator.vector) all.levels.back().vector_pj += step.vector_ops * accelerator.vector->pj_per_op;
    add_bound(all, kOperators, step.count, choice.cycles);
  }
}

void sort_bounds(NetworkTotals& all) {
  std::ranges::stable_sort(all.bounds, std::ranges::greater{}, &NetworkTotals::Bound::cycles);
}

std::string network_energy(const NetworkTotals& totals, const std::optional<Physical>& figures, bool ascii) {
  const bool vector = !totals.levels.empty() && totals.levels.back().vector_pj > 0;
  TextTable table({"level", "inputs", "weights", "outputs", vector ? "MACs, vector" : "MACs", "leakage", "energy",
                   "share", "<", figures ? "GB/s" : ""});
  const auto cell = [](double pj) { return pj > 0 ? readable_energy(pj) : "-"; };
  for (const NetworkTotals::Level& level : totals.levels) {
    const double share = level.energy_pj() / totals.energy_pj();
    table.add(
        {level.name, cell(level.by_role[0]), cell(level.by_role[1]), cell(level.by_role[2]),
         cell(level.macs_pj + level.vector_pj), cell(level.leakage_pj), cell(level.energy_pj()),
         fmt::format("{:.1f} %", 100 * share), share_bar(share, ascii),
         figures && level.bits > 0 ? fmt::format("{:.4g}", gigabytes_per_second(level.bits, figures->latency_s)) : ""});
  }
  return table.text("  ");
}

std::string network_time(const NetworkTotals& totals, bool ascii) {
  TextTable table({"bound by", "layers", "cycles", "of runtime", "<"});
  for (const NetworkTotals::Bound& bound : totals.bounds) {
    const double share = bound.cycles / totals.cycles();
    table.add({bound.what, std::to_string(bound.layers), fmt::format("{:.0f}", bound.cycles),
               fmt::format("{:.1f} %", 100 * share), share_bar(share, ascii)});
  }
  return table.text("  ");
}

ordered_json part_json(const NetworkParts::Part& part) {
  return {{"count", part.count}, {"energy_pj", part.energy_pj}, {"runtime_cycles", part.cycles}};
}

}  // namespace

NetworkTotals network_totals(const std::vector<SearchedLayer>& layers, const Workload* workload) {
  NetworkTotals all = empty_totals(layers.front().task->accelerator);
  all.solve_seconds = 0;
  std::vector<Task> rows;
  for (const SearchedLayer& searched : layers) {
    rows.push_back(*searched.task);
    *all.solve_seconds += searched.result.seconds;
    all.complete &= searched.result.mapping.has_value();
    if (!searched.result.mapping) continue;
    all.certified &= searched.result.certified;
    add_layer(all, *searched.task, *searched.result.mapping, searched.result.totals, searched.count);
    const auto idle = idle_units(*searched.task, *searched.result.mapping, searched.result.totals);
    if (!idle) continue;
    all.idle_layers += searched.count;
    all.saved_at_most += static_cast<double>(searched.count) * (idle->cycles - idle->least_cycles);
  }
  sort_bounds(all);
  if (workload != nullptr && workload->graph && rows.size() == workload->layers.size())
    all.left_out = residency::operators_outside(residency::live_tensors(*workload, rows), rows);
  return all;
}

NetworkTotals network_totals(const residency::Search& search, const std::vector<Task>& rows,
                             const residency::Optimum& best) {
  const Accelerator& accelerator = rows.front().accelerator;
  const residency::LiveTensors& live = search.live();
  NetworkTotals all = empty_totals(accelerator);
  add_steps(all, search, rows, best);
  for (std::size_t w = 0; w < best.weights.size(); ++w) {
    if (best.weights[w] == kOutside) continue;
    const double share = 1 / static_cast<double>(search.inferences());
    const residency::StandingWeights& weights = live.weights[w];
    const double cycles = share * residency::loading_cost(rows, live, weights, best.weights[w]).cycles;
    add_moves(all, accelerator, residency::loading_words(rows, live, weights, best.weights[w]), Role::kWeight,
              Role::kWeight, cycles, share);
    add_bound(all, kLoads, 1, cycles);
  }
  all.parts = best.parts;
  all.certified = best.certified;
  sort_bounds(all);
  return all;
}

NetworkTotals network_totals(const fusion::Search& search, const std::vector<Task>& rows, const fusion::Optimum& best) {
  const Accelerator& accelerator = rows.front().accelerator;
  NetworkTotals all = empty_totals(accelerator);
  add_steps(all, search, rows, best);
  for (const fusion::GroupChoice& group : best.groups) {
    for (const fusion::RunChoice& run : group.runs)
      add_layer(all, run.task, run.mapping, run.totals, static_cast<Count>(run.times));
    for (const fusion::LayerChoice* layer : group.plan.layers)
      for (const fusion::LayerChoice::Move& move : layer->moves) {
        add_moves(all, accelerator, move.words, move.role, move.role, move.cost.cycles, 1);
        add_bound(all, kTileMoves, 1, move.cost.cycles);
      }
  }
  all.parts = {};
  for (std::size_t s = 0; s < best.steps.size(); ++s) {
    const residency::Step& step = search.live().steps[s];
    NetworkParts::Part& part = step.row >= 0 ? all.parts.layers : all.parts.operators;
    if (step.costs()) part.count += step.count;
    part.energy_pj += best.steps[s].energy_pj;
    part.cycles += best.steps[s].cycles;
  }
  all.certified = best.certified;
  sort_bounds(all);
  return all;
}

std::optional<Physical> totals_in_time(const Accelerator& accelerator, const NetworkTotals& totals) {
  if (totals.cycles() <= 0) return std::nullopt;
  return physical(accelerator.clock_hz, totals.energy_pj(), totals.cycles(), totals.macs);
}

std::string parts_text(const NetworkTotals& totals) {
  TextTable table({"part", "count", "energy", "of energy", "cycles", "of runtime"});
  const auto add = [&](const char* what, const NetworkParts::Part& part) {
    if (part.count == 0) return;
    table.add({what, std::to_string(part.count), readable_energy(part.energy_pj),
               fmt::format("{:.1f} %", 100 * part.energy_pj / totals.energy_pj()), fmt::format("{:.0f}", part.cycles),
               fmt::format("{:.1f} %", 100 * part.cycles / totals.cycles())});
  };
  add("layers with MACs", totals.parts.layers);
  add(kOperators, totals.parts.operators);
  add(kLoads, totals.parts.loads);
  std::string text = "what the sums are of\n" + table.text("  ");
  if (totals.left_out)
    text += fmt::format(
        "  not in them: {} {}; with every tensor outside they take {} and {:.0f} cycles. As a network (without\n"
        "  --layers) they count, and tensors stay on chip where that is best\n",
        totals.left_out->count, kOperators, readable_energy(totals.left_out->energy_pj), totals.left_out->cycles);
  return text;
}

namespace {

double remainders_gain(const NetworkTotals& totals) {
  return totals.cycles() / (totals.cycles() - totals.saved_at_most);
}

std::optional<PowerParts> power_of(const Accelerator& accelerator, const NetworkTotals& totals) {
  EnergyParts energy;
  for (const NetworkTotals::Level& level : totals.levels)
    energy.add(accelerator.levels[static_cast<std::size_t>(level.level)], level.energy_pj() - level.leakage_pj,
               level.leakage_pj);
  const auto figures = totals_in_time(accelerator, totals);
  return power_parts(energy, figures ? std::optional(figures->latency_s) : std::nullopt);
}

}  // namespace

std::string shares_text(const Accelerator& accelerator, const NetworkTotals& totals, bool ascii) {
  if (totals.bounds.empty()) return {};
  const std::string power = power_text(accelerator, power_of(accelerator, totals));
  std::string text = power.empty() ? "" : "power: " + power + "\n";
  if (totals.idle_layers > 0)
    text += fmt::format(
        "perfect factors leave units idle in {} layer{}; with `--factorization ruby-s` they all are at most {:.3g} "
        "times as fast\n",
        totals.idle_layers, totals.idle_layers == 1 ? "" : "s", remainders_gain(totals));
  return (text.empty() ? "" : text + "\n") + "where the network's energy goes\n" +
         network_energy(totals, totals_in_time(accelerator, totals), ascii) + "\nwhat bounds its time\n" +
         network_time(totals, ascii);
}

std::string totals_text(const std::vector<SearchedLayer>& layers, const Workload* workload, const Workload::Pass& pass,
                        std::string_view mapper, bool ascii) {
  const Accelerator& accelerator = layers.front().task->accelerator;
  const NetworkTotals all = network_totals(layers, workload);
  const double energy = all.energy_pj(), cycles = all.cycles();
  std::string text =
      fmt::format("{}energy {:.6g} uJ, {:.0f} cycles, EDP of the sums {:.6g} pJ x cycles; mapper {}, {}\n",
                  all.complete ? "total: " : "total of what fits: ", energy * 1e-6, cycles, energy * cycles, mapper,
                  readable_search_time(all.solve_seconds.value_or(0)));
  if (const auto figures = totals_in_time(accelerator, all)) text += physical_text(accelerator, figures, &pass) + "\n";
  if (all.bounds.empty()) return text;
  return text + "\n" + parts_text(all) + "\n" + shares_text(accelerator, all, ascii);
}

ordered_json totals_json(const Accelerator& accelerator, const NetworkTotals& totals, const Workload::Pass& pass) {
  const auto figures = totals_in_time(accelerator, totals);
  ordered_json json{{"energy_pj", totals.energy_pj()},
                    {"runtime_cycles", totals.cycles()},
                    {"edp_pj_cycles", totals.energy_pj() * totals.cycles()},
                    {"certified", totals.certified && totals.complete},
                    {"complete", totals.complete}};
  if (totals.solve_seconds) json["solve_seconds"] = *totals.solve_seconds;
  json.update(physical_json(accelerator, figures, &pass));
  json.update(power_json(power_of(accelerator, totals)));
  if (totals.idle_layers > 0)
    json["remainders"] = {{"idle_layers", totals.idle_layers}, {"gain_at_most", remainders_gain(totals)}};
  json["parts"] = {{"layers", part_json(totals.parts.layers)},
                   {"operators", part_json(totals.parts.operators)},
                   {"loads", part_json(totals.parts.loads)}};
  if (totals.left_out) json["left_out"] = {{"operators", part_json(*totals.left_out)}};
  json["energy_by_level"] = ordered_json::array();
  for (const NetworkTotals::Level& level : totals.levels) {
    ordered_json item{{"level", level.name}, {"energy_pj", level.energy_pj()}};
    for (std::size_t r = 0; r < kRoles; ++r) item[std::string(keys::kRoleNames[r]) + "_pj"] = level.by_role[r];
    item["macs_pj"] = level.macs_pj;
    if (level.vector_pj > 0) item["vector_pj"] = level.vector_pj;
    item["leakage_pj"] = level.leakage_pj;
    item["gb_per_s"] =
        figures && level.bits > 0 ? ordered_json(gigabytes_per_second(level.bits, figures->latency_s)) : ordered_json();
    json["energy_by_level"].push_back(std::move(item));
  }
  json["time_by_bound"] = ordered_json::array();
  for (const NetworkTotals::Bound& bound : totals.bounds)
    json["time_by_bound"].push_back(
        {{"bound_by", bound.what}, {"layers", bound.layers}, {"runtime_cycles", bound.cycles}});
  return json;
}

}  // namespace pliant
