// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/map_network.h"

#include <fmt/format.h>

#include <ostream>

#include "dse/cli/interrupt.h"
#include "dse/cli/json_schema.h"
#include "dse/cli/network_answer.h"
#include "dse/cli/residency_answer.h"
#include "dse/cli/shipped_configs.h"
#include "dse/import/open.h"

namespace pliant {

namespace {

constexpr std::uint64_t kMostInferences = 1'000'000'000;

}  // namespace

void check_network_options(const Arguments& arguments, const TaskWords& words) {
  if (!arguments.has("network")) {
    if (*arguments.whole("inferences") != 1)
      throw arguments.bad("--inferences", "of single layers", "--network beside it");
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
  if (const auto inferences = *arguments.whole("inferences"); inferences < 1 || inferences > kMostInferences)
    throw arguments.bad("--inferences", fmt::format("{}", inferences), fmt::format("1 to {}", kMostInferences));
  if (*arguments.whole("inferences") > 1 && *arguments.text("residency") == "off")
    throw arguments.bad("--inferences", "beside --residency off", "--residency on");
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
  std::optional<Workload> workload;
  if (*arguments.text("residency") == "on")
    workload = open_workload(Library(shipped_configs().value_or("configs")), *words.workload);
  const auto inferences = static_cast<Count>(*arguments.whole("inferences"));
  if (inferences > 1 && !workload->graph)
    throw arguments.bad("--inferences", fmt::format("{} does not say which layers read what", workload->name),
                        "a workload with a `graph`, or with `chain: true`");
  const NetworkAnswer answer = workload && workload->graph
                                   ? residency_answer(mapper, *workload, tasks, goal, search, inferences)
                                   : network_answer(mapper, tasks, goal, search);
  if (interrupt.asked()) return 130;
  if (!answer.found) {
    err << answer.text;
    return 3;
  }
  if (arguments.has("json")) {
    nlohmann::ordered_json json{{"schema", kJsonSchema}, {"task", words.json()}, {"workload", *words.workload}};
    json["network"] = answer.json;
    out << json.dump(2) << "\n";
  } else {
    out << answer.text;
  }
  return 0;
}

}  // namespace pliant
