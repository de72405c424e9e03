// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/network_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "core/workload_graph.h"

namespace pliant {

std::optional<DesignRow::Residency> residency_of(const DesignPoint& design, const Workload& workload,
                                                 const std::shared_ptr<const TaskResult>& network) {
  if (!network || network->status != TaskStatus::kSolved || !has_edges(*workload.graph)) return std::nullopt;
  DesignRow::Residency residency;
  residency.result = network;
  residency.accelerator = design.accelerator;
  residency.weights_on_chip = static_cast<std::int64_t>(network->network.weights.size());
  for (const TaskResult::Network::Tensor& tensor : network->network.tensors) {
    if (tensor.last_read == tensor.made_by) continue;
    ++residency.tensors;
    residency.tensors_on_chip += tensor.level >= 0 ? 1 : 0;
    residency.tensors_in_tiles += tensor.tiles ? 1 : 0;
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
    const TaskResult::Network::Step& cost = network->network.steps[residency.nodes.size()];
    residency.nodes.push_back(node.name);
    residency.counts.push_back(node.count);
    if (node.is_layer()) continue;
    residency.operators_energy_pj += cost.energy_pj;
    residency.operators_runtime_cycles += cost.runtime_cycles;
  }
  return residency;
}

std::vector<std::string> staying_tensors(const Accelerator& accelerator, const Workload& workload,
                                         const TaskResult& network) {
  const std::vector<GraphStep> run = run_of(*workload.graph);
  std::vector<const TaskResult::Network::Tensor*> made(run.size(), nullptr);
  for (const TaskResult::Network::Tensor& tensor : network.network.tensors)
    made[static_cast<std::size_t>(tensor.made_by)] = &tensor;
  // Repetitions by tensor, level, and whether it is there in tiles.
  std::vector<std::map<std::tuple<int, int, bool>, Count>> rows(workload.layers.size());
  const auto add = [&](const WorkloadGraph::Node& node, int tensor, int level, bool tiles) {
    if (level >= 0) rows[static_cast<std::size_t>(node.layer)][{tensor, level, tiles}] += node.count;
  };
  for (std::size_t s = 0; s < run.size(); ++s) {
    const WorkloadGraph::Node& node = workload.graph->nodes[static_cast<std::size_t>(run[s].node)];
    if (made[s] == nullptr)  // an activation happens where its operand is
      made[s] = made[static_cast<std::size_t>(run[s].from.front().node)];
    if (!node.is_layer()) continue;
    const Layer& layer = workload.layers[static_cast<std::size_t>(node.layer)].layer;
    for (const WorkloadGraph::Edge& edge : run[s].from)
      if (edge.node >= 0) {
        const TaskResult::Network::Tensor& read = *made[static_cast<std::size_t>(edge.node)];
        add(node, edge.tensor, read.level, read.tiles);
      }
    add(node, layer.output(), made[s]->level, made[s]->tiles);
    for (const TaskResult::Network::Weights& weights : network.network.weights)
      if (weights.step == static_cast<std::int64_t>(s))
        add(node, std::countr_zero(layer.tensors_with_role(Role::kWeight)), weights.level, false);
  }
  std::vector<std::string> words;
  for (std::size_t l = 0; l < rows.size(); ++l) {
    const Workload::Entry& entry = workload.layers[l];
    std::string& text = words.emplace_back();
    for (const auto& [where, count] : rows[l]) {
      const auto [tensor, level, tiles] = where;
      text += fmt::format("{}{}{} in {}", text.empty() ? "" : ", ", tiles ? "tiles of " : "",
                          entry.layer.tensors[static_cast<std::size_t>(tensor)].name,
                          accelerator.levels[static_cast<std::size_t>(level)].name);
      if (count < entry.count) text += fmt::format(" ({} of {})", count, entry.count);
    }
    if (text.empty()) text = "none";
  }
  return words;
}

std::string write_run(const Workload& workload) {
  std::string text;
  for (const GraphStep& step : run_of(*workload.graph)) {
    const WorkloadGraph::Node& node = workload.graph->nodes[static_cast<std::size_t>(step.node)];
    text += fmt::format("step {} {} {} {}", node.layer, to_string(node.work), node.count, node.words);
    for (const WorkloadGraph::Edge& edge : step.from) text += fmt::format(" {}:{}", edge.node, edge.tensor);
    text += node.online ? " online\n" : "\n";
  }
  return text;
}

}  // namespace pliant
