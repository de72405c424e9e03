// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/fusion_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/flexibility_class.h"
#include "core/input/source_text.h"
#include "costmodel/report.h"
#include "dse/answers/render_cost.h"
#include "dse/answers/steps_table.h"
#include "dse/answers/text_table.h"
#include "dse/answers/variant_settings.h"
#include "dse/mappers/fusion/fusion.h"
#include "dse/mappers/fusion/loop_names.h"
#include "dse/mappers/network_proof.h"
#include "dse/mappers/shared_budget.h"

namespace pliant {
namespace {

using fusion::GroupChoice;
using fusion::Optimum;
using nlohmann::ordered_json;
using residency::Home;
using residency::kOutside;

class FusionTelling {
 public:
  FusionTelling(const Workload& workload, const std::vector<ReadTask>& tasks, const NetworkGoal& goal,
                const fusion::Search& search, const Optimum& best, const residency::Optimum& whole,
                const residency::Optimum& outside, const NetworkTotals& totals)
      : workload_(workload),
        tasks_(tasks),
        accelerator_(tasks.front().task.accelerator),
        goal_(goal),
        search_(search),
        best_(best),
        whole_(whole),
        outside_(outside),
        totals_(totals),
        group_of_(best.steps.size(), {-1, -1}) {
    for (std::size_t g = 0; g < best.groups.size(); ++g)
      for (std::size_t l = 0; l < best.groups[g].steps.size(); ++l)
        group_of_[static_cast<std::size_t>(best.groups[g].steps[l])] = {static_cast<int>(g), static_cast<int>(l)};
  }

  std::string text(std::string_view mapper, bool ascii) const {
    std::string text = all_steps() + "\n" + groups_text();
    text += "\n" + verdict().text("the network over mappings, residency and tiles");
    text += gain_text("every tensor outside", outside_) + gain_text("whole tensors on chip", whole_);
    text += fmt::format("mapper {}, {} searches\n", mapper, search_.searches());
    return text + "\n" + parts_text(totals_) + "\n" + shares_text(accelerator_, totals_, ascii);
  }

  ordered_json json(std::string_view mapper) const {
    ordered_json json = verdict().json(mapper);
    json["fusion"] = "tiles";
    if (outside_.found()) json["without_residency"] = sums_json(outside_);
    if (whole_.found()) json["whole_tensors"] = sums_json(whole_);
    json["tensors"] = ordered_json::array();
    for (std::size_t t = 0; t < live().tensors.size(); ++t) {
      const residency::LiveTensor& tensor = live().tensors[t];
      json["tensors"].push_back({{"node", node_name(tensor.node)},
                                 {"words", tensor.elements},
                                 {"lives_in", home_name(best_.homes[t])},
                                 {"tiles", is_tiles(t)},
                                 {"from_step", tensor.made_by},
                                 {"to_step", tensor.last_read}});
    }
    json["groups"] = ordered_json::array();
    for (const GroupChoice& group : best_.groups) json["groups"].push_back(group_json(group));
    json["steps"] = ordered_json::array();
    for (std::size_t s = 0; s < best_.steps.size(); ++s) json["steps"].push_back(step_json(s));
    return json;
  }

 private:
  const residency::LiveTensors& live() const { return search_.live(); }
  const std::string& node_name(int n) const { return workload_.graph->nodes[static_cast<std::size_t>(n)].name; }
  const std::string& name_of_step(int s) const { return node_name(live().steps[static_cast<std::size_t>(s)].node); }
  std::string home_name(Home home) const {
    return home == kOutside ? "outside" : accelerator_.levels[static_cast<std::size_t>(home)].name;
  }
  const GroupChoice* group_at(int step) const {
    const int group = group_of_[static_cast<std::size_t>(step)].first;
    return group < 0 ? nullptr : &best_.groups[static_cast<std::size_t>(group)];
  }
  bool is_tiles(std::size_t tensor) const { return best_.tiles[tensor]; }
  std::string place_of(int tensor) const {
    const auto t = static_cast<std::size_t>(tensor);
    return (is_tiles(t) ? "tiles in " : "") + home_name(best_.homes[t]);
  }

  NetworkVerdict verdict() const {
    const std::string_view undecided = "a deadline between two choices of tiles";
    return {tasks_,
            goal_,
            best_.value,
            best_.lower_bound,
            best_.gap(),
            best_.certified,
            totals_,
            search_.searches(),
            best_.between_corners && !best_.certified ? undecided : std::string_view{}};
  }

  std::vector<std::string> reads_from(std::size_t s) const {
    std::vector<std::string> places;
    for (const residency::Read& read : live().steps[s].reads) places.push_back(place_of(read.tensor));
    return places;
  }
  std::string makes_in(std::size_t s) const {
    return live().steps[s].makes < 0 ? "in place" : place_of(live().steps[s].makes);
  }
  std::map<std::string, Count> taken(std::size_t s) const {
    std::map<std::string, Count> all;
    for (std::size_t l = 0; l < best_.steps[s].taken.size(); ++l)
      if (best_.steps[s].taken[l] > 0) all[accelerator_.levels[l].name] = best_.steps[s].taken[l];
    return all;
  }

  std::string all_steps() const {
    std::vector<StepLine> lines;
    for (std::size_t s = 0; s < best_.steps.size(); ++s) {
      std::vector<std::string> rooms, places = reads_from(s);
      for (const auto& [memory, words] : taken(s))
        rooms.push_back(fmt::format("{} {}", memory, readable_count(static_cast<double>(words))));
      if (places.empty() || live().steps[s].elements_from_outside > 0) places.emplace_back("outside");
      const GroupChoice* group = group_at(static_cast<int>(s));
      lines.push_back({{name_of_step(static_cast<int>(s)), join(places), makes_in(s), rooms.empty() ? "-" : join(rooms),
                        group == nullptr ? "-" : loops_text(*group, nest_of(*group, group_of_[s].second))},
                       live().steps[s].count,
                       best_.steps[s].energy_pj,
                       best_.steps[s].cycles});
    }
    return steps_table({"node", "reads from<", "makes in<", "words taken<", "under<"}, lines);
  }

  static fusion::Stack nest_of(const GroupChoice& group, int layer) {
    return fusion::nests_of(group.plan.stacks)[static_cast<std::size_t>(layer)];
  }
  std::vector<std::string> names_of(const GroupChoice& group) const {
    std::vector<std::string> names;
    for (const int step : group.steps) names.push_back(name_of_step(step));
    return names;
  }
  std::string loops_text(const GroupChoice& group, const fusion::Stack& loops) const {
    return fusion::loops_text(*group.setting.chain, loops, names_of(group));
  }
  ordered_json loops_json(const GroupChoice& group, const fusion::Stack& loops) const {
    ordered_json all = ordered_json::array();
    for (const fusion::TileLoop& loop : loops)
      all.push_back({{"axis", fusion::axis_name(*group.setting.chain, loop.axis, names_of(group))},
                     {"rounds", group.setting.chain->trips(loop)},
                     {"tile", loop.tile}});
    return all;
  }
  std::string held_name(const GroupChoice& group, const fusion::Held& held) const {
    return name_of_step(group.steps[static_cast<std::size_t>(held.layer)]) + "." +
           group.setting.chain->layer(held.layer).tensors[static_cast<std::size_t>(held.tensor)].name;
  }
  static fusion::Stack outer(const fusion::Stack& nest, std::size_t depth) {
    return {nest.begin(), nest.begin() + static_cast<std::ptrdiff_t>(depth)};
  }

  std::string groups_text() const {
    if (fusion_freedom(accelerator_) == Freedom::kFixed)
      return "this design has no F: its flexibility lets no layers pass tiles on\n";
    if (!search_.any_groups()) return "no layers could pass tiles on (docs/fusion.md says which can)\n";
    if (best_.groups.empty()) return "no layers pass tiles on\n";
    std::vector<std::vector<std::string>> lines;
    std::map<std::vector<std::string>, Count> times;  // groups that do the same are told once
    for (const GroupChoice& group : best_.groups) {
      std::vector<std::string> held;
      for (const fusion::Held& one : group.plan.held) {
        const fusion::Stack loops = outer(nest_of(group, one.layer), one.depth);
        held.push_back(held_name(group, one) + (loops.empty() ? "" : " under " + loops_text(group, loops)));
      }
      for (std::size_t i = 0; i < group.plan.stacks.size(); ++i) {
        std::vector<std::string> cells{name_of_step(group.steps[i]), home_name(group.setting.home),
                                       loops_text(group, group.plan.stacks[i]),
                                       i > 0 || held.empty() ? "-" : join(held)};
        if (++times[cells] == 1) lines.push_back(std::move(cells));
      }
    }
    TextTable table({"made by", "times", "in<", "tile under<", "held meanwhile<"});
    for (const auto& cells : lines)
      table.add({cells[0], fmt::format("{}", times[cells]), cells[1], cells[2], cells[3]});
    return "tensors that pass in tiles\n" + table.text("  ");
  }

  std::string gain_text(std::string_view what, const residency::Optimum& other) const {
    if (!other.found()) return fmt::format("{}: no choice of mappings fits\n", what);
    const double edp = other.energy_pj * other.cycles;
    return fmt::format("{}: {} {:.7g}{}; tiles divide its energy by {:.3f}, cycles by {:.3f}, EDP by {:.3f}\n", what,
                       to_string(goal_.objective), other.value, other.certified ? " (certified)" : "",
                       other.energy_pj / best_.energy_pj, other.cycles / best_.cycles,
                       edp / (best_.energy_pj * best_.cycles));
  }
  static ordered_json sums_json(const residency::Optimum& other) {
    return {{"value", other.value},           {"lower_bound", other.lower_bound},
            {"certified", other.certified},   {"energy_pj", other.energy_pj},
            {"runtime_cycles", other.cycles}, {"edp_pj_cycles", other.energy_pj * other.cycles}};
  }

  ordered_json group_json(const GroupChoice& group) const {
    ordered_json json{{"steps", group.steps}, {"lives_in", home_name(group.setting.home)}};
    json["tiles"] = ordered_json::array();
    for (std::size_t i = 0; i < group.plan.stacks.size(); ++i) {
      ordered_json under = loops_json(group, group.plan.stacks[i]);
      for (std::size_t k = 0; k < under.size(); ++k)
        if (const int dim = group.setting.chain->place(group.plan.stacks[i][k].axis, static_cast<int>(i)).dim; dim >= 0)
          under[k]["cuts"] = group.setting.chain->layer(static_cast<int>(i)).dims[static_cast<std::size_t>(dim)].name;
      json["tiles"].push_back({{"node", name_of_step(group.steps[i])}, {"under", std::move(under)}});
    }
    json["held"] = ordered_json::array();
    for (const fusion::Held& held : group.plan.held)
      json["held"].push_back(
          {{"node", name_of_step(group.steps[static_cast<std::size_t>(held.layer)])},
           {"tensor", group.setting.chain->layer(held.layer).tensors[static_cast<std::size_t>(held.tensor)].name},
           {"under", loops_json(group, outer(nest_of(group, held.layer), held.depth))}});
    return json;
  }

  static ordered_json mapping_of(const Task& task, const Mapping& mapping) {
    const CostReport report = price(task.layer, task.accelerator, mapping);
    return mapping_json({task.layer, task.accelerator, mapping, task.factorization, report});
  }

  ordered_json step_json(std::size_t s) const {
    const residency::Step& step = live().steps[s];
    const residency::StepChoice& choice = best_.steps[s];
    ordered_json json{{"node", node_name(step.node)}, {"count", step.count}};
    if (step.row >= 0)
      json["layer"] = workload_.layers[static_cast<std::size_t>(step.row)].layer.name;
    else
      json["op"] = to_string(workload_.graph->nodes[static_cast<std::size_t>(step.node)].work);
    json["reads_from"] = reads_from(s);
    json["makes_in"] = makes_in(s);
    json["reserved_words"] = taken(s);
    if (choice.variant >= 0) {
      Task task = search_.task(choice.variant);
      task.layer.name = workload_.layers[static_cast<std::size_t>(step.row)].layer.name;  // rows of one shape share it
      json["set"] = variant_settings(accelerator_, task.accelerator);
      json["parts"] = ordered_json::array();
      for (const residency::StepPart& part : choice.parts)
        json["parts"].push_back({{"count", part.count},
                                 {"energy_pj", part.totals.energy_pj},
                                 {"runtime_cycles", part.totals.cycles},
                                 {"mapping", mapping_of(task, part.mapping)}});
    } else if (const GroupChoice* group = group_at(static_cast<int>(s))) {
      add_runs(*group, group_of_[s].second, json);
    }
    json["energy_pj"] = choice.energy_pj;
    json["runtime_cycles"] = choice.cycles;
    return json;
  }

  void add_runs(const GroupChoice& group, int layer, ordered_json& json) const {
    json["group"] = group_of_[static_cast<std::size_t>(group.steps.front())].first;
    json["under"] = loops_json(group, nest_of(group, layer));
    json["runs"] = ordered_json::array();
    for (const fusion::RunChoice& run : group.runs) {
      if (run.layer != layer) continue;
      Task task = run.task;
      task.layer.name = json["layer"].get<std::string>();  // rows of one shape share it
      ordered_json sizes;
      for (const Dim& dim : run.task.layer.dims) sizes[dim.name] = dim.size;
      json["set"] = variant_settings(accelerator_, run.task.accelerator);
      json["runs"].push_back({{"times", static_cast<Count>(run.times)},
                              {"sizes", sizes},
                              {"energy_pj", run.totals.energy_pj},
                              {"runtime_cycles", run.totals.cycles},
                              {"mapping", mapping_of(task, run.mapping)}});
    }
    const fusion::OperatorCost& moving = group.plan.layers[static_cast<std::size_t>(layer)]->moving;
    json["moves"] = {{"energy_pj", moving.energy_pj}, {"runtime_cycles", moving.cycles}};
  }

  const Workload& workload_;
  const std::vector<ReadTask>& tasks_;
  const Accelerator& accelerator_;
  const NetworkGoal& goal_;
  const fusion::Search& search_;
  const Optimum& best_;
  const residency::Optimum &whole_, &outside_;
  const NetworkTotals& totals_;
  std::vector<std::pair<int, int>> group_of_;  ///< by step: its group and its place there; -1 = none
};

}  // namespace

NetworkAnswer fusion_answer(const Mapper& mapper, const Workload& workload, const std::vector<ReadTask>& tasks,
                            const NetworkGoal& goal, const SearchOptions& options, const ResidencyRequest& request) {
  std::vector<Task> rows;
  for (const ReadTask& read : tasks) rows.push_back(read.task);
  const SharedBudget shared(mapper, options, kSearchesOfALayer * rows.size());
  fusion::Search search(shared, workload, rows, shared.options());
  const Optimum best = search.run(goal);
  if (options.stop.stop_requested()) return {};
  if (!best.found())
    return no_network(best.without_mapping ? &rows[static_cast<std::size_t>(*best.without_mapping)] : nullptr, goal,
                      best.fastest_cycles);
  std::optional<audit::NetworkCertificate> certificate;
  if (options.record_parts) certificate = network_certificate(workload, rows, goal, search, best);
  residency::Search before(shared, workload, rows, shared.options());
  const residency::Optimum whole = before.run(goal, true), outside = before.run(goal, false);
  if (options.stop.stop_requested()) return {};
  const NetworkTotals totals = network_totals(search, rows, best);
  const FusionTelling telling(workload, tasks, goal, search, best, whole, outside, totals);
  return {true, telling.text(mapper.name(), request.ascii), telling.json(mapper.name()),
          totals_json(rows.front().accelerator, totals, tasks.front().pass), std::move(certificate)};
}

}  // namespace pliant
