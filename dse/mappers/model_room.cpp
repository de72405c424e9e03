// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/model_room.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace pliant {

namespace {

/// Operands (row of the workload, tensor) that other layers make.
std::set<std::pair<int, int>> made_operands(const Workload& workload) {
  std::set<std::pair<int, int>> made;
  if (!workload.graph) return made;
  for (const WorkloadGraph::Node& node : workload.graph->nodes)
    for (const WorkloadGraph::Edge& edge : node.from)
      if (node.is_layer() && edge.node != WorkloadGraph::kNetworkInput) made.emplace(node.layer, edge.tensor);
  return made;
}

/// The outermost memory that keeps a role; -1 when none does.
int outermost_keeper(const Accelerator& accelerator, Role role) {
  for (int l = 0; l < static_cast<int>(accelerator.levels.size()); ++l) {
    const Level& level = accelerator.levels[static_cast<std::size_t>(l)];
    if (level.is_memory() && level.memory().may_keep[static_cast<std::size_t>(role)]) return l;
  }
  return -1;
}

}  // namespace

double ModelRoom::chips() const { return std::ceil((weights_bytes + activations_bytes) / capacity_bytes); }

std::optional<ModelRoom> model_too_large(const Workload& workload, const Accelerator& accelerator) {
  const int level = outermost_keeper(accelerator, Role::kWeight);
  if (level < 0) return std::nullopt;
  const Memory& memory = accelerator.levels[static_cast<std::size_t>(level)].memory();
  if (!memory.capacity_words) return std::nullopt;
  ModelRoom room;
  room.memory = accelerator.levels[static_cast<std::size_t>(level)].name;
  room.capacity_bytes = static_cast<double>(*memory.capacity_words) * memory.word_bits / 8 *
                        static_cast<double>(accelerator.instances(level));
  const auto made = made_operands(workload);
  for (std::size_t row = 0; row < workload.layers.size(); ++row) {
    const auto& [layer, count] = workload.layers[row];
    double activations = 0;
    for (int x = 0; x < static_cast<int>(layer.tensors.size()); ++x) {
      const Role role = layer.tensors[static_cast<std::size_t>(x)].role;
      const double bytes = static_cast<double>(layer.tensor_words(x)) * accelerator.element_bits(level, layer, x) / 8;
      if (role == Role::kWeight && !made.contains({static_cast<int>(row), x}))
        room.weights_bytes += bytes * static_cast<double>(count);
      else if (outermost_keeper(accelerator, role) == level)
        activations += bytes;
    }
    room.activations_bytes = std::max(room.activations_bytes, activations);
  }
  if (room.weights_bytes + room.activations_bytes <= room.capacity_bytes) return std::nullopt;
  return room;
}

std::string model_room_text(const ModelRoom& room) {
  const auto size = [](double bytes) {
    return bytes >= 1e9 ? fmt::format("{:.4g} GB", bytes * 1e-9) : fmt::format("{:.4g} MB", bytes * 1e-6);
  };
  std::string text = fmt::format("{} of weights", size(room.weights_bytes));
  if (room.weights_bytes <= room.capacity_bytes)
    text += fmt::format(" and {} of activations", size(room.activations_bytes));
  return fmt::format("{} do not fit into {} ({}): {:.0f} chips", text, room.memory, size(room.capacity_bytes),
                     room.chips());
}

}  // namespace pliant
