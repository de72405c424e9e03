// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/map_network.h"

#include <fmt/format.h>

#include <cmath>
#include <ostream>

#include "dse/cli/interrupt.h"
#include "dse/cli/json_schema.h"
#include "dse/cli/map_residency.h"
#include "dse/cli/render_cost.h"
#include "dse/cli/render_physical.h"
#include "dse/cli/render_search.h"
#include "dse/cli/shipped_configs.h"
#include "dse/cli/text_table.h"
#include "dse/import/open.h"
#include "dse/mappers/network.h"

namespace pliant {
namespace {

using nlohmann::ordered_json;

/// What a layer would have by itself, beside what it has in the network.
struct GivenUp {
  double own = 0;     ///< the layer's own least value
  double in_sum = 0;  ///< its value in the network, of one repetition
  double share() const { return own == 0 ? 0 : in_sum / own - 1; }
};

class NetworkTelling {
 public:
  NetworkTelling(const std::vector<ReadTask>& tasks, const NetworkGoal& goal, const NetworkOptimum& optimum,
                 std::vector<SearchResult> alone)
      : tasks_(tasks), goal_(goal), optimum_(optimum), alone_(std::move(alone)) {}

  std::string text(std::string_view mapper) const {
    TextTable table({"layer", "times", "energy uJ", "cycles", "EDP", "alone", "gave up"});
    for (const NetworkPart& part : optimum_.parts) {
      const GivenUp given = given_up(part);
      table.add({tasks_[part.layer].task.layer.name, std::to_string(part.count),
                 fmt::format("{:.4g}", part.totals.energy_pj * 1e-6), fmt::format("{:.0f}", part.totals.cycles),
                 fmt::format("{:.4g}", part.totals.edp()), fmt::format("{:.4g}", given.own),
                 given.share() < 5e-7 ? "-" : fmt::format("{:.2g} %", 100 * given.share())});
    }
    std::string text = table.text("") + "\n";
    const std::string value = fmt::format("{} {:.7g}", to_string(goal_.objective), optimum_.value);
    const std::string within =
        std::isinf(goal_.most_cycles) ? "" : fmt::format(" within {:.0f} cycles", goal_.most_cycles);
    text += optimum_.certified
                ? fmt::format("certified optimum of the network: {}{}\n", value, within)
                : fmt::format("best found for the network: {}{}, proven lower bound {:.7g}, gap {:.3g} %\n", value,
                              within, optimum_.lower_bound, 100 * optimum_.gap());
    const auto [energy, cycles] = sums_of_optima();
    const double apart = network_value(goal_.objective, energy, cycles);
    text += fmt::format("energy {:.6g} uJ, {:.0f} cycles, EDP {:.7g} pJ x cycles\n", optimum_.energy_pj * 1e-6,
                        optimum_.cycles, optimum_.energy_pj * optimum_.cycles);
    if (const auto figures = in_time())
      text += physical_text(tasks_.front().task.accelerator, figures, &tasks_.front().pass) + "\n";
    text += fmt::format("every layer at its own optimum: {} {:.7g}, {:.0f} cycles", to_string(goal_.objective), apart,
                        cycles);
    if (cycles <= goal_.most_cycles)
      text += fmt::format(", {:.3g} % above", 100 * (apart / optimum_.value - 1));
    else
      text += ", too slow";
    return text + fmt::format("; mapper {}, {} searches\n", mapper, optimum_.searches);
  }

  ordered_json json(std::string_view mapper) const {
    ordered_json json{{"mapper", mapper},
                      {"objective", to_string(goal_.objective)},
                      {"value", optimum_.value},
                      {"lower_bound", optimum_.lower_bound},
                      {"gap", optimum_.gap()},
                      {"certified", optimum_.certified},
                      {"energy_pj", optimum_.energy_pj},
                      {"runtime_cycles", optimum_.cycles},
                      {"edp_pj_cycles", optimum_.energy_pj * optimum_.cycles},
                      {"searches", optimum_.searches}};
    json.update(physical_json(tasks_.front().task.accelerator, in_time(), &tasks_.front().pass));
    if (!std::isinf(goal_.most_cycles)) json["deadline_cycles"] = goal_.most_cycles;
    const auto [energy, cycles] = sums_of_optima();
    json["layers_alone"] = {{"energy_pj", energy}, {"runtime_cycles", cycles}, {"edp_pj_cycles", energy * cycles}};
    json["layers"] = ordered_json::array();
    for (const NetworkPart& part : optimum_.parts) {
      const Task& task = tasks_[part.layer].task;
      const GivenUp given = given_up(part);
      ordered_json item{{"count", part.count}, {"value_alone", given.own}, {"gave_up", given.share()}};
      const CostReport report = price(task.layer, task.accelerator, part.mapping);
      item.update(cost_json({task.layer, task.accelerator, part.mapping, task.factorization, report}));
      json["layers"].push_back(std::move(item));
    }
    return json;
  }

 private:
  std::optional<Physical> in_time() const {
    double macs = 0;
    for (const ReadTask& read : tasks_)
      macs += static_cast<double>(read.count) * static_cast<double>(read.task.layer.macs());
    return physical(tasks_.front().task.accelerator.clock_hz, optimum_.energy_pj, optimum_.cycles, macs);
  }
  GivenUp given_up(const NetworkPart& part) const {
    return {alone_[part.layer].value, objective_value(goal_.objective, part.totals)};
  }
  std::pair<double, double> sums_of_optima() const {
    double energy = 0, cycles = 0;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const auto count = static_cast<double>(tasks_[i].count);
      energy += count * alone_[i].totals.energy_pj;
      cycles += count * alone_[i].totals.cycles;
    }
    return {energy, cycles};
  }

  const std::vector<ReadTask>& tasks_;
  const NetworkGoal& goal_;
  const NetworkOptimum& optimum_;
  std::vector<SearchResult> alone_;  ///< by layer: the optimum of the same objective
};

}  // namespace

void check_network_options(const Arguments& arguments, const TaskWords& words) {
  if (!arguments.has("network")) {
    if (arguments.has("deadline")) throw arguments.bad("--deadline", "of single layers", "--network beside it");
    return;
  }
  if (words.layer) throw arguments.bad("--network", "of a single --layer", "a whole --workload");
  if (words.objective.find(',') != std::string::npos)
    throw arguments.bad("--objective", "several, for a network", "one of runtime, energy, edp, ed2p, perf-per-watt");
  if (words.objective == to_string(Objective::kEdpOverUtilization))
    throw arguments.bad("--objective", "edp-over-utilization of a network",
                        "runtime, energy, edp, ed2p or perf-per-watt");
  if (arguments.has("deadline") && words.objective != to_string(Objective::kEnergy))
    throw arguments.bad("--deadline", fmt::format("beside --objective {}", words.objective), "--objective energy");
  if (const std::string residency = *arguments.text("residency"); residency != "on" && residency != "off")
    throw arguments.bad("--residency", fmt::format("`{}`", residency), "on or off");
  for (const char* option : {"save", "certificate"})
    if (arguments.has(option)) throw arguments.bad(fmt::format("--{}", option), "of a network", "a single --layer");
}

int map_network(const Arguments& arguments, const TaskWords& words, const Mapper& mapper,
                const std::vector<ReadTask>& tasks, SearchOptions search, std::ostream& out, std::ostream& err) {
  const Interrupt interrupt;
  search.stop = interrupt.token();
  NetworkGoal goal;
  goal.objective = tasks.front().task.objective;
  if (const auto deadline = arguments.real("deadline")) goal.most_cycles = *deadline;
  if (*arguments.text("residency") == "on") {
    const Workload workload = open_workload(Library(shipped_configs().value_or("configs")), *words.workload);
    if (workload.graph) return map_residency(arguments, words, mapper, workload, tasks, goal, search, out, err);
  }
  std::vector<NetworkLayer> layers;
  for (const ReadTask& read : tasks) layers.push_back({read.task, read.count});
  const NetworkOptimum optimum = search_network(mapper, layers, goal, search);
  if (optimum.parts.empty()) {
    if (interrupt.asked()) return 130;
    if (optimum.without_mapping) {
      const Task& task = tasks[*optimum.without_mapping].task;
      const auto why = why_nothing_fits(task);
      err << (why ? infeasible_text(task, *why) : fmt::format("no mapping of layer {} was found\n", task.layer.name));
    } else {
      err << fmt::format("no mappings of the network take at most {:.0f} cycles; the fastest take {:.0f}\n",
                         goal.most_cycles, optimum.fastest_cycles);
    }
    return 3;
  }
  std::vector<SearchResult> alone;
  for (const ReadTask& read : tasks) alone.push_back(run_mapper(mapper, read.task, search));
  if (interrupt.asked()) return 130;
  const NetworkTelling telling(tasks, goal, optimum, std::move(alone));
  if (arguments.has("json")) {
    ordered_json json{{"schema", kJsonSchema}, {"task", words.json()}, {"workload", *words.workload}};
    json["network"] = telling.json(mapper.name());
    out << json.dump(2) << "\n";
  } else {
    out << telling.text(mapper.name());
  }
  return 0;
}

}  // namespace pliant
