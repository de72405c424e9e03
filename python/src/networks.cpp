// SPDX-License-Identifier: Apache-2.0
// A network as a whole: the mappings that serve its sums, and which tensors stay on chip between layers.
#include <fmt/format.h>

#include "dse/cli/json_schema.h"
#include "dse/cli/residency_answer.h"
#include "src/bindings.h"
#include "src/interrupt.h"
#include "src/search.h"

namespace pliant::python {
namespace {

std::vector<ReadTask> tasks_of(const Workload& workload, const Accelerator& accelerator, const Request& request) {
  std::vector<ReadTask> tasks;
  for (const Workload::Entry& entry : workload.layers) {
    ReadTask& read = tasks.emplace_back();
    read.task.layer = entry.layer;
    read.task.accelerator = accelerator;
    read.task.flexibility = accelerator.flexibility_of(entry.layer);
    read.task.factorization = read_factorization(request.factorization, "pliant");
    read.task.objective = read_objective(request.objective, "pliant");
    read.count = entry.count;
    read.pass = workload.pass;
  }
  return tasks;
}

NetworkGoal goal_of(const Request& request, std::optional<double> deadline_cycles) {
  NetworkGoal goal;
  goal.objective = read_objective(request.objective, "pliant");
  if (goal.objective == Objective::kEdpOverUtilization)
    throw bad_option("pliant", "--objective", "edp-over-utilization of a network",
                     "runtime, energy, edp, ed2p or perf-per-watt");
  if (!deadline_cycles) return goal;
  if (goal.objective != Objective::kEnergy)
    throw bad_option("pliant", "--deadline", fmt::format("beside --objective {}", request.objective),
                     "--objective energy");
  if (!(*deadline_cycles > 0))
    throw bad_option("pliant", "--deadline", fmt::format("`{}`", *deadline_cycles), "cycles above 0");
  goal.most_cycles = *deadline_cycles;
  return goal;
}

nlohmann::ordered_json told(const LoadedWorkload& workload, const LoadedAccelerator& accelerator,
                            const Request& request, const NetworkAnswer& answer) {
  nlohmann::ordered_json json{{"schema", kJsonSchema}};
  if (!workload.in_memory && !accelerator.in_memory) {
    TaskWords words = words_of(accelerator);
    words.workload = workload.source;
    words.objective = request.objective;
    words.factorization = request.factorization;
    json["task"] = words.json();
    json["workload"] = workload.source;
  }
  json["mapped_as"] = "network";
  json["network"] = answer.json;
  json["total"] = answer.total;
  return json;
}

/// Found or not, then JSON and text; without one the text says why.
std::tuple<bool, std::string, std::string> map_network(const LoadedWorkload& workload,
                                                       const LoadedAccelerator& accelerator, const Request& request,
                                                       std::optional<double> deadline_cycles, bool residency,
                                                       bool interruptible) {
  const std::vector<ReadTask> tasks = tasks_of(workload.workload, accelerator.accelerator, request);
  const NetworkGoal goal = goal_of(request, deadline_cycles);
  const std::unique_ptr<Mapper> mapper = mapper_of(request);
  const InterruptibleCall call(interruptible);
  const SearchOptions options = options_of(request, call.token());
  const NetworkAnswer answer = workload.workload.graph
                                   ? residency_answer(*mapper, workload.workload, tasks, goal, options, {residency})
                                   : network_answer(*mapper, tasks, goal, options);
  if (call.asked()) return {false, "{}", "interrupted"};
  return {answer.found, told(workload, accelerator, request, answer).dump(), answer.text};
}

}  // namespace

void bind_networks(nb::module_& module) {
  using namespace nb::literals;
  module.def("map_network", &map_network, "workload"_a, "accelerator"_a, "request"_a, "deadline_cycles"_a.none(),
             "residency"_a, "interruptible"_a, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace pliant::python
