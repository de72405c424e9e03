// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/map_network.h"

#include <fmt/format.h>

#include <ostream>

#include "dse/cli/interrupt.h"
#include "dse/cli/json_schema.h"
#include "dse/cli/model_room_json.h"
#include "dse/cli/network_answer.h"
#include "dse/cli/residency_answer.h"
#include "dse/mappers/residency/residency.h"

namespace pliant {

namespace {

void check_network_options(const Arguments& arguments, const TaskWords& words, bool network) {
  if (arguments.has("network") && arguments.has("layers"))
    throw arguments.bad("--layers", "beside --network", "one of them");
  if (!network) {
    const char* instead = words.layer ? "a whole --workload" : "--network beside it";
    if (*arguments.whole("inferences") != 1) throw arguments.bad("--inferences", "of single layers", instead);
    if (arguments.has("deadline")) throw arguments.bad("--deadline", "of single layers", instead);
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
  constexpr auto kMost = static_cast<std::uint64_t>(residency::kMostInferences);
  if (const auto inferences = *arguments.whole("inferences"); inferences < 1 || inferences > kMost)
    throw arguments.bad("--inferences", fmt::format("{}", inferences), fmt::format("1 to {}", kMost));
  if (*arguments.whole("inferences") > 1 && *arguments.text("residency") == "off")
    throw arguments.bad("--inferences", "beside --residency off", "--residency on");
  for (const char* option : {"save", "certificate"})
    if (arguments.has(option)) throw arguments.bad(fmt::format("--{}", option), "of a network", "a single --layer");
}

}  // namespace

NetworkChoice choose_network(const Arguments& arguments, const TaskWords& words) {
  NetworkChoice choice;
  choice.asked = arguments.has("network");
  if (!words.layer && words.workload) choice.workload = read_workload(*words.workload);
  // What only layers can be asked for: other mappers prove nothing, and this objective is no network's.
  const bool layers_only = arguments.has("layers") || *arguments.text("mapper") != "exact" ||
                           words.objective == to_string(Objective::kEdpOverUtilization);
  choice.network = choice.asked || (choice.workload && choice.workload->graph && !layers_only);
  check_network_options(arguments, words, choice.network);
  return choice;
}

int map_network(const Arguments& arguments, const TaskWords& words, const Workload& workload, const Mapper& mapper,
                const std::vector<ReadTask>& tasks, SearchOptions search, std::ostream& out, std::ostream& err) {
  const Interrupt interrupt;
  search.stop = interrupt.token();
  NetworkGoal goal;
  goal.objective = tasks.front().task.objective;
  if (const auto deadline = arguments.real("deadline")) goal.most_cycles = *deadline;
  ResidencyRequest request;
  request.stay = *arguments.text("residency") == "on";
  request.inferences = static_cast<Count>(*arguments.whole("inferences"));
  request.ascii = arguments.has("ascii");
  if (request.inferences > 1 && !workload.graph)
    throw arguments.bad("--inferences", fmt::format("{} does not say which layers read what", workload.name),
                        "a workload with a `graph`, or with `chain: true`");
  const NetworkAnswer answer = workload.graph ? residency_answer(mapper, workload, tasks, goal, search, request)
                                              : network_answer(mapper, tasks, goal, search, request.ascii);
  if (interrupt.asked()) return 130;
  if (!answer.found) {
    err << answer.text;
    return 3;
  }
  if (arguments.has("json")) {
    nlohmann::ordered_json json{{"schema", kJsonSchema}, {"task", words.json()}, {"workload", *words.workload}};
    json["mapped_as"] = "network";
    if (const auto room = model_too_large(workload, tasks.front().task.accelerator))
      json["model_room"] = model_room_json(*room);
    json["network"] = answer.json;
    json["total"] = answer.total;
    out << json.dump(2) << "\n";
  } else {
    if (workload.graph)
      out << fmt::format("{} as a network: tensors {}; --layers maps every layer by itself\n\n", workload.name,
                         request.stay ? "stay on chip where that is best" : "live outside between layers");
    out << answer.text;
  }
  return 0;
}

}  // namespace pliant
