// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/told_steps.h"

#include <fmt/format.h>

#include "core/input/source_text.h"
#include "costmodel/report.h"
#include "dse/answers/render_cost.h"
#include "dse/answers/text_table.h"
#include "dse/answers/variant_settings.h"

namespace pliant {

using nlohmann::ordered_json;

std::string ToldSteps::home_name(residency::Home home) const {
  return home == residency::kOutside ? "outside" : accelerator_.levels[static_cast<std::size_t>(home)].name;
}

std::map<std::string, Count> ToldSteps::taken(const residency::StepChoice& choice) const {
  std::map<std::string, Count> all;
  for (std::size_t l = 0; l < choice.taken.size(); ++l)
    if (choice.taken[l] > 0) all[accelerator_.levels[l].name] = choice.taken[l];
  return all;
}

std::string ToldSteps::taken_text(const residency::StepChoice& choice) const {
  std::vector<std::string> rooms;
  for (const auto& [memory, words] : taken(choice))
    rooms.push_back(fmt::format("{} {}", memory, readable_count(static_cast<double>(words))));
  return rooms.empty() ? "-" : join(rooms);
}

ordered_json ToldSteps::tensor(std::size_t tensor, residency::Home home, const ordered_json& more) const {
  const residency::LiveTensor& one = live_.tensors[tensor];
  ordered_json json{{"node", node_name(one.node)}, {"words", one.elements}, {"lives_in", home_name(home)}};
  json.update(more);
  json.update({{"from_step", one.made_by}, {"to_step", one.last_read}});
  return json;
}

ordered_json ToldSteps::step(std::size_t step, const residency::StepChoice& choice,
                             const std::vector<std::string>& reads_from, const std::string& makes_in) const {
  const residency::Step& one = live_.steps[step];
  ordered_json json{{"node", node_name(one.node)}, {"count", one.count}};
  if (one.row >= 0)
    json["layer"] = layer_name(step);
  else
    json["op"] = to_string(graph_node(one.node).work);
  json["reads_from"] = reads_from;
  json["makes_in"] = makes_in;
  json["reserved_words"] = taken(choice);
  return json;
}

void ToldSteps::add_parts(std::size_t step, const residency::StepChoice& choice, Task task, ordered_json& json) const {
  task.layer.name = layer_name(step);  // rows of one shape share it
  json["set"] = variant_settings(accelerator_, task.accelerator);
  json["parts"] = ordered_json::array();
  for (const residency::StepPart& part : choice.parts)
    json["parts"].push_back({{"count", part.count},
                             {"energy_pj", part.totals.energy_pj},
                             {"runtime_cycles", part.totals.cycles},
                             {"mapping", mapping_of(task, part.mapping)}});
}

void ToldSteps::add_costs(const residency::StepChoice& choice, ordered_json& json) {
  json["energy_pj"] = choice.energy_pj;
  json["runtime_cycles"] = choice.cycles;
}

ordered_json sums_json(const residency::Optimum& other) {
  return {{"value", other.value},           {"lower_bound", other.lower_bound},
          {"certified", other.certified},   {"energy_pj", other.energy_pj},
          {"runtime_cycles", other.cycles}, {"edp_pj_cycles", other.energy_pj * other.cycles}};
}

ordered_json mapping_of(const Task& task, const Mapping& mapping) {
  const CostReport report = price(task.layer, task.accelerator, mapping);
  return mapping_json({task.layer, task.accelerator, mapping, task.factorization, report});
}

}  // namespace pliant
