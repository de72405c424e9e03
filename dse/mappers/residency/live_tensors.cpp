// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/residency/live_tensors.h"

#include <algorithm>
#include <bit>

#include "core/wide.h"

namespace pliant::residency {

namespace {

/// More tensors that are alive at once and have a choice make too many states: those that live longest stay outside.
constexpr std::size_t kMostChoosing = 10;

class Reader {
 public:
  Reader(const Workload& workload, const std::vector<Task>& rows)
      : graph_(workload.graph ? *workload.graph : unrelated_layers(workload)), rows_(rows), run_(run_of(graph_)) {}

  LiveTensors read() {
    count_readers();
    for (std::size_t s = 0; s < run_.size(); ++s) add_step(static_cast<int>(s));
    for (int t = 0; t < static_cast<int>(live_.tensors.size()); ++t) find_homes(t);
    find_through();
    find_weights();
    return std::move(live_);
  }

 private:
  const WorkloadGraph::Node& node_of(int step) const {
    return graph_.nodes[static_cast<std::size_t>(run_[static_cast<std::size_t>(step)].node)];
  }

  void count_readers() {
    readers_.assign(run_.size(), 0);
    for (const GraphStep& step : run_)
      for (const WorkloadGraph::Edge& edge : step.from)
        if (edge.node >= 0) ++readers_[static_cast<std::size_t>(edge.node)];
  }

  /// An activation that is the only reader of its operand happens where the operand is, also where it leaves out some.
  bool is_in_place(int step) const {
    const WorkloadGraph::Node& node = node_of(step);
    const auto& from = run_[static_cast<std::size_t>(step)].from;
    return !node.is_layer() && node.work == WorkloadGraph::Operator::kActivation && from.size() == 1 &&
           from[0].node >= 0 && readers_[static_cast<std::size_t>(from[0].node)] == 1 &&
           node.words <= node_of(from[0].node).words;
  }

  void add_step(int s) {
    const WorkloadGraph::Node& node = node_of(s);
    Step step;
    step.node = run_[static_cast<std::size_t>(s)].node;
    step.row = node.layer;
    step.count = node.count;
    step.takes_part = !node.is_layer() && node.work == WorkloadGraph::Operator::kPart;
    step.gives_away = !node.is_layer() && node.work == WorkloadGraph::Operator::kOutput;
    if (const auto& unit = rows_.front().accelerator.vector; unit && !node.is_layer())
      step.vector_ops = static_cast<double>(node.words) * unit->ops_of(node.work);
    for (const WorkloadGraph::Edge& edge : run_[static_cast<std::size_t>(s)].from) {
      if (edge.node < 0) {
        if (!node.is_layer()) step.elements_from_outside += node.words;
        continue;
      }
      const int made = tensor_of_[static_cast<std::size_t>(edge.node)];
      step.reads.push_back({made, edge.tensor});
      tensor(made).last_read = s;
    }
    if (is_in_place(s)) {
      tensor_of_.push_back(step.reads.front().tensor);
    } else {
      step.makes = static_cast<int>(live_.tensors.size());
      tensor_of_.push_back(step.makes);
      live_.tensors.push_back({step.node, node.words, s, s});
    }
    live_.steps.push_back(std::move(step));
  }

  void find_homes(int t) {
    LiveTensor& found = tensor(t);
    if (found.last_read == found.made_by) return;
    const Accelerator& accelerator = rows_.front().accelerator;
    for (int l = 1; l + 1 < static_cast<int>(accelerator.levels.size()); ++l) {
      const Level& level = accelerator.levels[static_cast<std::size_t>(l)];
      if (level.is_fanout()) break;  // from here on there may be several of each
      if (!level.is_memory() || level.memory().off_chip) continue;
      bool good = true;
      for (int s = found.made_by; s <= found.last_read && good; ++s) {
        const Step& step = live_.steps[static_cast<std::size_t>(s)];
        if (step.row >= 0 && step.makes == t) {
          const Task& task = rows_[static_cast<std::size_t>(step.row)];
          good = may_live(task, task.layer.output(), l);
        }
        for (const Read& read : step.reads)
          if (read.tensor == t && step.row >= 0)
            good &= may_live(rows_[static_cast<std::size_t>(step.row)], read.operand, l);
        if (level.memory().capacity_words) good &= words_at(live_, rows_, t, s, l) <= *level.memory().capacity_words;
      }
      if (good) found.homes.push_back(l);
    }
  }

  void find_weights() {
    for (int s = 0; s < static_cast<int>(live_.steps.size()); ++s) {
      const Step& step = live_.steps[static_cast<std::size_t>(s)];
      if (step.row < 0) continue;
      const Task& task = rows_[static_cast<std::size_t>(step.row)];
      const Accelerator& accelerator = task.accelerator;
      const TensorSet all = task.layer.tensors_with_role(Role::kWeight);
      const int operand = std::countr_zero(all);
      if (std::popcount(all) != 1 || std::ranges::find(step.reads, operand, &Read::operand) != step.reads.end())
        continue;
      StandingWeights found{s, operand, step.count * task.layer.tensor_words(operand)};
      for (int l = 1; l + 1 < static_cast<int>(accelerator.levels.size()); ++l) {
        const Level& level = accelerator.levels[static_cast<std::size_t>(l)];
        if (level.is_fanout()) break;
        if (!level.is_memory() || level.memory().off_chip || !may_live(task, operand, l)) continue;
        if (level.memory().capacity_words && weights_words(live_, rows_, found, l) > *level.memory().capacity_words)
          continue;
        found.homes.push_back(l);
      }
      if (found.homes.size() > 1) live_.weights.push_back(std::move(found));
    }
  }

  void find_through() {
    std::vector<int> alive;
    for (int s = 0; s < static_cast<int>(live_.steps.size()); ++s) {
      Step& step = live_.steps[static_cast<std::size_t>(s)];
      std::erase_if(alive, [&](int t) { return tensor(t).last_read < s; });
      for (const int t : alive)
        if (std::ranges::find(step.reads, t, &Read::tensor) == step.reads.end()) step.through.push_back(t);
      if (step.makes >= 0) alive.push_back(step.makes);
      limit_choices(alive);
    }
  }

  void limit_choices(std::vector<int> alive) {
    std::erase_if(alive, [&](int t) { return tensor(t).homes.size() == 1; });
    if (alive.size() <= kMostChoosing) return;
    live_.limited = true;
    std::ranges::stable_sort(alive, {}, [&](int t) { return tensor(t).last_read - tensor(t).made_by; });
    for (std::size_t i = kMostChoosing; i < alive.size(); ++i) tensor(alive[i]).homes.resize(1);
  }

  LiveTensor& tensor(int t) { return live_.tensors[static_cast<std::size_t>(t)]; }

  const WorkloadGraph graph_;
  const std::vector<Task>& rows_;
  std::vector<GraphStep> run_;
  std::vector<int> readers_;    ///< by step
  std::vector<int> tensor_of_;  ///< by step
  LiveTensors live_;
};

}  // namespace

LiveTensors live_tensors(const Workload& workload, const std::vector<Task>& rows) {
  return Reader(workload, rows).read();
}

bool may_live(const Task& task, int operand, int level) {
  const Role role = task.layer.tensors[static_cast<std::size_t>(operand)].role;
  if (std::popcount(task.layer.tensors_with_role(role)) != 1) return false;
  const auto& levels = task.accelerator.levels;
  const auto keeps = [&](int l) {
    return levels[static_cast<std::size_t>(l)].is_memory() &&
           levels[static_cast<std::size_t>(l)].memory().may_keep[static_cast<std::size_t>(role)];
  };
  bool comes_from_outside = false;
  for (int l = 0; l < level; ++l) comes_from_outside |= keeps(l);
  return keeps(level) && comes_from_outside;
}

int finished_bits(const LiveTensors& live, const std::vector<Task>& rows, int tensor, int level) {
  const Accelerator& accelerator = rows.front().accelerator;
  const int row = live.steps[static_cast<std::size_t>(live.tensors[static_cast<std::size_t>(tensor)].made_by)].row;
  if (row < 0) return accelerator.element_bits(level, Role::kOutput);
  const Layer& layer = rows[static_cast<std::size_t>(row)].layer;
  return accelerator.element_bits(level, layer, layer.output());
}

Count words_taken(const Accelerator& accelerator, Count elements, int bits, Home home) {
  const Wide word = accelerator.levels[static_cast<std::size_t>(home)].memory().word_bits;
  const Wide all = static_cast<Wide>(elements) * bits;
  return static_cast<Count>(all / word + (all % word != 0 ? 1 : 0));
}

Count weights_words(const LiveTensors& live, const std::vector<Task>& rows, const StandingWeights& weights, Home home) {
  const int row = live.steps[static_cast<std::size_t>(weights.step)].row;
  const Task& task = rows[static_cast<std::size_t>(row)];
  return words_taken(task.accelerator, weights.elements,
                     task.accelerator.element_bits(home, task.layer, weights.operand), home);
}

Count words_at(const LiveTensors& live, const std::vector<Task>& rows, int tensor, int step, Home home) {
  const Accelerator& accelerator = rows.front().accelerator;
  const Step& now = live.steps[static_cast<std::size_t>(step)];
  int bits = finished_bits(live, rows, tensor, home);
  if (now.row >= 0) {
    const Layer& layer = rows[static_cast<std::size_t>(now.row)].layer;
    if (now.makes == tensor) bits = accelerator.partial_sum_bits(home, layer);
    for (const Read& read : now.reads)
      if (read.tensor == tensor) bits = std::max(bits, accelerator.element_bits(home, layer, read.operand));
  }
  return words_taken(accelerator, live.tensors[static_cast<std::size_t>(tensor)].elements, bits, home);
}

}  // namespace pliant::residency
