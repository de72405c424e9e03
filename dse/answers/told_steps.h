// SPDX-License-Identifier: Apache-2.0
// The steps of a network's run and the places of its tensors in words and as JSON, of whatever search.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dse/mappers/residency/residency.h"

namespace pliant {

class ToldSteps {
 public:
  /// All of them outlive it; the workload has a graph.
  ToldSteps(const Workload& workload, const Accelerator& accelerator, const residency::LiveTensors& live)
      : workload_(workload), accelerator_(accelerator), live_(live) {}

  const std::string& node_name(int node) const { return graph_node(node).name; }
  const std::string& step_name(int step) const { return node_name(live_.steps[static_cast<std::size_t>(step)].node); }
  std::string home_name(residency::Home home) const;  ///< a memory, or "outside"
  /// Words that tensors take in each memory while a step runs, its own operands included.
  std::map<std::string, Count> taken(const residency::StepChoice& choice) const;
  std::string taken_text(const residency::StepChoice& choice) const;

  /// `more` stands behind where it lives.
  nlohmann::ordered_json tensor(std::size_t tensor, residency::Home home,
                                const nlohmann::ordered_json& more = nlohmann::ordered_json::object()) const;
  /// What it is, and from where to where it works.
  nlohmann::ordered_json step(std::size_t step, const residency::StepChoice& choice,
                              const std::vector<std::string>& reads_from, const std::string& makes_in) const;
  /// Its mappings; `task` is that of its variant.
  void add_parts(std::size_t step, const residency::StepChoice& choice, Task task, nlohmann::ordered_json& json) const;
  static void add_costs(const residency::StepChoice& choice, nlohmann::ordered_json& json);

 private:
  const WorkloadGraph::Node& graph_node(int node) const {
    return workload_.graph->nodes[static_cast<std::size_t>(node)];
  }
  const std::string& layer_name(std::size_t step) const {
    return workload_.layers[static_cast<std::size_t>(live_.steps[step].row)].layer.name;
  }

  const Workload& workload_;
  const Accelerator& accelerator_;
  const residency::LiveTensors& live_;
};

/// The sums of another choice, to compare with.
nlohmann::ordered_json sums_json(const residency::Optimum& other);

/// One mapping of a task.
nlohmann::ordered_json mapping_of(const Task& task, const Mapping& mapping);

}  // namespace pliant
