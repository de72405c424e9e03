// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/ask_network.h"

#include <fmt/format.h>

#include "dse/answers/fusion_answer.h"
#include "dse/answers/json_schema.h"
#include "dse/answers/model_room_json.h"
#include "dse/mappers/residency/residency.h"

namespace pliant {

void check_fusion(std::string_view command, std::optional<std::string_view> fusion, std::optional<bool> residency) {
  if (!fusion) return;
  if (*fusion != "off" && *fusion != "whole" && *fusion != "tiles")
    throw bad_option(command, "--fusion", fmt::format("`{}`", *fusion), "off, whole or tiles");
  if (residency && *residency == (*fusion == "off"))
    throw bad_option(command, "--fusion", "beside a residency that says something else", "one of them");
}

void check_network_numbers(std::string_view command, std::optional<double> deadline_cycles, Count inferences) {
  if (deadline_cycles && !(*deadline_cycles > 0))
    throw bad_option(command, "--deadline", fmt::format("`{}`", *deadline_cycles), "cycles above 0");
  if (inferences < 1 || inferences > residency::kMostInferences)
    throw bad_option(command, "--inferences", fmt::format("{}", inferences),
                     fmt::format("1 to {}", residency::kMostInferences));
}

NetworkAnswer ask_network(const Mapper& mapper, const Workload& workload, const std::vector<ReadTask>& tasks,
                          const NetworkGoal& goal, const SearchOptions& options, const ResidencyRequest& request) {
  if (!workload.graph) return network_answer(mapper, workload, tasks, goal, options, request.ascii);
  return request.tiles ? fusion_answer(mapper, workload, tasks, goal, options, request)
                       : residency_answer(mapper, workload, tasks, goal, options, request);
}

nlohmann::ordered_json network_json(const std::optional<TaskWords>& words, const Workload& workload,
                                    const std::vector<ReadTask>& tasks, const NetworkAnswer& answer) {
  nlohmann::ordered_json json{{"schema", kJsonSchema}};
  if (words) {
    json["task"] = words->json();
    json["workload"] = *words->workload;
  }
  json["mapped_as"] = "network";
  if (const auto room = model_too_large(workload, tasks.front().task.accelerator))
    json["model_room"] = model_room_json(*room);
  json["network"] = answer.json;
  json["total"] = answer.total;
  return json;
}

}  // namespace pliant
