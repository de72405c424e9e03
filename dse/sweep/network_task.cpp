// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/network_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "core/input/diagnostics.h"
#include "core/workload_graph.h"
#include "dse/mappers/residency/residency.h"
#include "dse/mappers/shared_budget.h"
#include "dse/sweep/sweep_task.h"

namespace pliant {

namespace {

using residency::Optimum;

void note_steps(const residency::LiveTensors& live, const Optimum& best, const Optimum& outside,
                TaskResult::Network& network) {
  for (std::size_t s = 0; s < best.steps.size(); ++s) {
    TaskResult::Network::Step& step = network.steps.emplace_back();
    step.energy_pj = best.steps[s].energy_pj;
    step.runtime_cycles = best.steps[s].cycles;
    if (outside.found()) {
      step.outside_energy_pj = outside.steps[s].energy_pj;
      step.outside_runtime_cycles = outside.steps[s].cycles;
    }
    for (std::size_t l = 0; l < best.steps[s].taken.size(); ++l)
      if (best.steps[s].taken[l] > 0) step.taken.push_back({static_cast<int>(l), best.steps[s].taken[l]});
  }
  for (std::size_t t = 0; t < live.tensors.size(); ++t) {
    const residency::LiveTensor& tensor = live.tensors[t];
    network.tensors.push_back({best.homes[t], tensor.made_by, tensor.last_read, tensor.elements});
  }
  if (!outside.found()) return;
  network.outside_energy_pj = outside.energy_pj;
  network.outside_runtime_cycles = outside.cycles;
}

}  // namespace

TaskResult solve_network(const Mapper& mapper, const Sweep& sweep, const DesignPoint& design, const Workload& workload,
                         int threads, const std::stop_token& stop, const Clock& clock) {
  const SearchOptions options = search_options(sweep, threads, stop, clock);
  const double started = clock.wall_seconds();
  TaskResult result;
  try {
    std::vector<Task> rows;
    for (const Workload::Entry& entry : workload.layers)
      rows.push_back({entry.layer, *design.accelerator, design.accelerator->flexibility_of(entry.layer),
                      design.factorization, design.objective});
    SearchOptions all = options;
    all.budget.seconds *= static_cast<double>(rows.size());  // the sweep's budget is for a layer
    const SharedBudget shared(mapper, all, kSearchesOfALayer * rows.size());
    residency::Search search(shared, workload, rows, shared.options());
    const NetworkGoal goal{design.objective};
    const Optimum best = search.run(goal, true);
    if (!best.found()) {
      result.status = best.infeasible ? TaskStatus::kNoLegalMapping : TaskStatus::kNothingFound;
      result.reason = best.without_mapping
                          ? fmt::format("{}: no mapping was found wherever its tensors live",
                                        workload.layers[static_cast<std::size_t>(*best.without_mapping)].layer.name)
                          : std::string("no mappings were found wherever the tensors live");
      return result;
    }
    const Optimum outside = search.run(goal, false);
    result.status = TaskStatus::kSolved;
    result.energy_pj = best.energy_pj;
    result.runtime_cycles = best.cycles;
    result.value = best.value;
    result.lower_bound = best.lower_bound;
    result.gap = best.gap();
    result.certified = best.certified;
    result.evaluations = search.searches();
    result.ended_by = best.certified ? EndedBy::kProof : EndedBy::kNothing;
    note_steps(search.live(), best, outside, result.network);
  } catch (const InputError&) {
    throw;  // a mapper's option: the same for every task
  } catch (const std::exception& error) {
    result = {};
    result.status = TaskStatus::kFailed;
    result.reason = error.what();
  }
  result.solve_seconds = clock.wall_seconds() - started;
  return result;
}

std::optional<DesignRow::Residency> residency_of(const DesignPoint& design, const Workload& workload,
                                                 const std::shared_ptr<const TaskResult>& network) {
  if (!network || network->status != TaskStatus::kSolved) return std::nullopt;
  DesignRow::Residency residency;
  residency.result = network;
  residency.accelerator = design.accelerator;
  for (const TaskResult::Network::Tensor& tensor : network->network.tensors) {
    if (tensor.last_read == tensor.made_by) continue;
    ++residency.tensors;
    residency.tensors_on_chip += tensor.level >= 0 ? 1 : 0;
  }
  for (const TaskResult::Network::Step& step : network->network.steps) {
    double bits = 0;
    for (const TaskResult::Network::Room& room : step.taken)
      bits += static_cast<double>(room.words) *
              design.accelerator->levels[static_cast<std::size_t>(room.level)].memory().word_bits;
    residency.most_on_chip_bits = std::max(residency.most_on_chip_bits, bits);
  }
  for (const GraphStep& step : run_of(*workload.graph)) {
    const WorkloadGraph::Node& node = workload.graph->nodes[static_cast<std::size_t>(step.node)];
    residency.nodes.push_back(node.name);
    residency.counts.push_back(node.count);
  }
  return residency;
}

std::string write_run(const Workload& workload) {
  std::string text;
  for (const GraphStep& step : run_of(*workload.graph)) {
    const WorkloadGraph::Node& node = workload.graph->nodes[static_cast<std::size_t>(step.node)];
    text += fmt::format("step {} {} {} {}", node.layer, to_string(node.work), node.count, node.words);
    for (const WorkloadGraph::Edge& edge : step.from) text += fmt::format(" {}:{}", edge.node, edge.tensor);
    text += '\n';
  }
  return text;
}

}  // namespace pliant
