// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/fusion_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/flexibility_class.h"
#include "core/input/source_text.h"
#include "dse/answers/render_cost.h"
#include "dse/answers/steps_table.h"
#include "dse/answers/text_table.h"
#include "dse/answers/told_steps.h"
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
using residency::kOutside;

class FusionTelling {
 public:
  FusionTelling(const Workload& workload, const std::vector<ReadTask>& tasks, const NetworkGoal& goal,
                const fusion::Search& search, const Optimum& best, const residency::Optimum& whole,
                const residency::Optimum& outside, const NetworkTotals& totals)
      : tasks_(tasks),
        accelerator_(tasks.front().task.accelerator),
        goal_(goal),
        search_(search),
        best_(best),
        whole_(whole),
        outside_(outside),
        totals_(totals),
        steps_(workload, accelerator_, search.live()),
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
    for (std::size_t t = 0; t < live().tensors.size(); ++t)
      json["tensors"].push_back(steps_.tensor(t, best_.homes[t], ordered_json::object({{"tiles", is_tiles(t)}})));
    json["groups"] = ordered_json::array();
    for (const GroupChoice& group : best_.groups) json["groups"].push_back(group_json(group));
    json["steps"] = ordered_json::array();
    for (std::size_t s = 0; s < best_.steps.size(); ++s) json["steps"].push_back(step_json(s));
    return json;
  }

 private:
  const residency::LiveTensors& live() const { return search_.live(); }
  const GroupChoice* group_at(int step) const {
    const int group = group_of_[static_cast<std::size_t>(step)].first;
    return group < 0 ? nullptr : &best_.groups[static_cast<std::size_t>(group)];
  }
  bool is_tiles(std::size_t tensor) const { return best_.tiles[tensor]; }
  std::string place_of(int tensor) const {
    const auto t = static_cast<std::size_t>(tensor);
    return (is_tiles(t) ? "tiles in " : "") + steps_.home_name(best_.homes[t]);
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

  std::string all_steps() const {
    std::vector<StepLine> lines;
    for (std::size_t s = 0; s < best_.steps.size(); ++s) {
      std::vector<std::string> places = reads_from(s);
      if (places.empty() || live().steps[s].elements_from_outside > 0) places.push_back(steps_.home_name(kOutside));
      const GroupChoice* group = group_at(static_cast<int>(s));
      lines.push_back(
          {{steps_.step_name(static_cast<int>(s)), join(places), makes_in(s), steps_.taken_text(best_.steps[s]),
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
    for (const int step : group.steps) names.push_back(steps_.step_name(step));
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
    return steps_.step_name(group.steps[static_cast<std::size_t>(held.layer)]) + "." +
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
        std::vector<std::string> cells{steps_.step_name(group.steps[i]), steps_.home_name(group.setting.home),
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

  ordered_json group_json(const GroupChoice& group) const {
    ordered_json json{{"steps", group.steps}, {"lives_in", steps_.home_name(group.setting.home)}};
    json["tiles"] = ordered_json::array();
    for (std::size_t i = 0; i < group.plan.stacks.size(); ++i) {
      ordered_json under = loops_json(group, group.plan.stacks[i]);
      for (std::size_t k = 0; k < under.size(); ++k)
        if (const int dim = group.setting.chain->place(group.plan.stacks[i][k].axis, static_cast<int>(i)).dim; dim >= 0)
          under[k]["cuts"] = group.setting.chain->layer(static_cast<int>(i)).dims[static_cast<std::size_t>(dim)].name;
      json["tiles"].push_back({{"node", steps_.step_name(group.steps[i])}, {"under", std::move(under)}});
    }
    json["held"] = ordered_json::array();
    for (const fusion::Held& held : group.plan.held)
      json["held"].push_back(
          {{"node", steps_.step_name(group.steps[static_cast<std::size_t>(held.layer)])},
           {"tensor", group.setting.chain->layer(held.layer).tensors[static_cast<std::size_t>(held.tensor)].name},
           {"under", loops_json(group, outer(nest_of(group, held.layer), held.depth))}});
    return json;
  }

  ordered_json step_json(std::size_t s) const {
    const residency::StepChoice& choice = best_.steps[s];
    ordered_json json = steps_.step(s, choice, reads_from(s), makes_in(s));
    if (choice.variant >= 0)
      steps_.add_parts(s, choice, search_.task(choice.variant), json);
    else if (const GroupChoice* group = group_at(static_cast<int>(s)))
      add_runs(*group, group_of_[s].second, json);
    ToldSteps::add_costs(choice, json);
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

  const std::vector<ReadTask>& tasks_;
  const Accelerator& accelerator_;
  const NetworkGoal& goal_;
  const fusion::Search& search_;
  const Optimum& best_;
  const residency::Optimum &whole_, &outside_;
  const NetworkTotals& totals_;
  const ToldSteps steps_;
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
