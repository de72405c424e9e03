// SPDX-License-Identifier: Apache-2.0
// A network as a whole: the mappings that serve its sums, and which tensors stay on chip between layers.
#include "core/arithmetic.h"
#include "dse/answers/ask_network.h"
#include "dse/answers/model_room_json.h"
#include "dse/combinations/combinations.h"
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

/// How a network is asked beside its mappings.
struct NetworkWishes {
  std::optional<double> deadline_cycles;
  std::optional<bool> residency;  ///< nothing: where the workload says which layers read what
  Count inferences = 1;
  std::optional<std::string> fusion;  ///< "off", "whole" or "tiles"
};

Traits asked(const Workload& workload, const Request& request, const NetworkWishes& wishes) {
  Traits question = asked(Trait::kNetwork, request);
  question.add_if(wishes.residency == true, Trait::kResidency);
  question.add_if(wishes.residency == false || wishes.fusion == "off", Trait::kOutside);
  question.add_if(wishes.fusion == "whole", Trait::kResidency);
  question.add_if(wishes.fusion == "tiles", Trait::kTiles);
  question.add_if(!workload.graph, Trait::kUnrelated);
  question.add_if(wishes.inferences != 1, Trait::kInferences);
  return question.add_if(wishes.deadline_cycles.has_value(), Trait::kDeadline);
}

std::optional<TaskWords> words_of(const LoadedWorkload& workload, const LoadedAccelerator& accelerator,
                                  const Request& request) {
  if (workload.in_memory || accelerator.in_memory) return std::nullopt;
  TaskWords words = words_of(accelerator);
  words.workload = workload.source;
  words.objective = request.objective;
  words.factorization = request.factorization;
  return words;
}

/// Found or not, then JSON and text; without one the text says why.
std::tuple<bool, std::string, std::string> map_network(const LoadedWorkload& workload,
                                                       const LoadedAccelerator& accelerator, const Request& request,
                                                       std::optional<double> deadline_cycles,
                                                       std::optional<bool> residency, Count inferences,
                                                       const std::optional<std::string>& fusion, bool interruptible) {
  check_works("pliant", asked(workload.workload, request, {deadline_cycles, residency, inferences, fusion}));
  check_fusion("pliant", fusion, residency);
  check_network_numbers("pliant", deadline_cycles, inferences);
  const std::vector<ReadTask> tasks = tasks_of(workload.workload, accelerator.accelerator, request);
  const NetworkGoal goal{tasks.front().task.objective, deadline_cycles.value_or(kInfinity)};
  const std::unique_ptr<Mapper> mapper = mapper_of(request);
  const InterruptibleCall call(interruptible);
  const SearchOptions options = options_of(request, call.token());
  const NetworkAnswer answer =
      ask_network(*mapper, workload.workload, tasks, goal, options,
                  {residency.value_or(true) && fusion != "off", inferences, false, fusion == "tiles"});
  if (call.asked()) return {false, "{}", "interrupted"};
  const auto json = network_json(words_of(workload, accelerator, request), workload.workload, tasks, answer);
  return {answer.found, json.dump(), answer.text};
}

/// JSON and a sentence of a network that does not fit into the memory its weights come from.
std::optional<std::pair<std::string, std::string>> model_room(const LoadedWorkload& workload,
                                                              const LoadedAccelerator& accelerator) {
  const auto room = model_too_large(workload.workload, accelerator.accelerator);
  if (!room) return std::nullopt;
  return std::pair(model_room_json(*room).dump(), model_room_text(*room));
}

}  // namespace

void bind_networks(nb::module_& module) {
  using namespace nb::literals;
  module.def("map_network", &map_network, "workload"_a, "accelerator"_a, "request"_a, "deadline_cycles"_a.none(),
             "residency"_a.none(), "inferences"_a, "fusion"_a.none(), "interruptible"_a,
             nb::call_guard<nb::gil_scoped_release>());
  module.def("model_room", &model_room, "workload"_a, "accelerator"_a);
}

}  // namespace pliant::python
