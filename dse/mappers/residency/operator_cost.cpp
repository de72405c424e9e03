// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/residency/operator_cost.h"

#include <algorithm>

#include "costmodel/whole_cycles.h"

namespace pliant::residency {

namespace {

double cycles_at(const Memory& memory, const MovedWords& words, Role read, Role written) {
  double most = 0;
  const auto port = [&most](const std::optional<double>& per_cycle, double moved) {
    if (per_cycle) most = std::max(most, moved / *per_cycle);
  };
  port(memory.read_words_per_cycle, words.read);
  port(memory.write_words_per_cycle, words.written);
  port(memory.bus_words_per_cycle, words.read + words.written);
  const Bandwidth& from = memory.bandwidth_of[static_cast<std::size_t>(read)];
  const Bandwidth& to = memory.bandwidth_of[static_cast<std::size_t>(written)];
  port(from.read, words.read);
  port(from.bus, words.read);
  port(to.write, words.written);
  port(to.bus, words.written);
  return most;
}

}  // namespace

double leak_pj_per_cycle(const Accelerator& accelerator) {
  double sum = 0;
  for (int l = 0; l < static_cast<int>(accelerator.levels.size()); ++l) {
    const Level& level = accelerator.levels[static_cast<std::size_t>(l)];
    const auto instances = static_cast<double>(accelerator.instances(l));
    if (level.is_memory()) sum += instances * level.memory().leak_pj_per_cycle;
    if (level.is_compute()) sum += instances * level.compute().leak_pj_per_cycle;
  }
  return sum;
}

int outside_level(const Accelerator& accelerator, Role role) {
  for (int l = 0; l < static_cast<int>(accelerator.levels.size()); ++l) {
    const Level& level = accelerator.levels[static_cast<std::size_t>(l)];
    if (level.is_memory() && level.memory().may_keep[static_cast<std::size_t>(role)]) return l;
  }
  return 0;
}

bool works_in_place(WorkloadGraph::Operator work) {
  using enum WorkloadGraph::Operator;
  return work == kAdd || work == kActivation || work == kSoftmax || work == kNorm;
}

WordsByLevel operator_words(const std::vector<Task>& rows, const Step& step, const LiveTensors& live,
                            const std::vector<Home>& homes, Home made) {
  WordsByLevel at;
  // What lives outside is with the network's user already.
  if (step.makes < 0 || (step.gives_away && homes.front() == kOutside)) return at;
  const Accelerator& accelerator = rows.front().accelerator;
  const auto level_of = [&](Home home, Role role) {
    return home == kOutside ? outside_level(accelerator, role) : home;
  };
  const auto words = [&](Count elements, int bits, int level) {
    return static_cast<double>(elements) * bits /
           accelerator.levels[static_cast<std::size_t>(level)].memory().word_bits;
  };
  for (std::size_t i = 0; i < step.reads.size(); ++i) {
    const int tensor = step.reads[i].tensor, level = level_of(homes[i], Role::kInput);
    const int read = step.takes_part ? step.makes : tensor;
    at[level].read +=
        words(live.tensors[static_cast<std::size_t>(read)].elements, finished_bits(live, rows, tensor, level), level);
  }
  const int outside = level_of(kOutside, Role::kInput), result = level_of(made, Role::kOutput);
  at[outside].read += words(step.elements_from_outside, accelerator.element_bits(outside, Role::kInput), outside);
  at[result].written += words(live.tensors[static_cast<std::size_t>(step.makes)].elements,
                              accelerator.element_bits(result, Role::kOutput), result);
  return at;
}

WordsByLevel loading_words(const std::vector<Task>& rows, const LiveTensors& live, const StandingWeights& weights,
                           Home home) {
  const Accelerator& accelerator = rows.front().accelerator;
  const int row = live.steps[static_cast<std::size_t>(weights.step)].row,
            from = outside_level(accelerator, Role::kWeight);
  const Layer& layer = rows[static_cast<std::size_t>(row)].layer;
  const auto words = [&](int level) {
    return static_cast<double>(weights.elements) * accelerator.element_bits(level, layer, weights.operand) /
           accelerator.levels[static_cast<std::size_t>(level)].memory().word_bits;
  };
  WordsByLevel at;
  at[from].read = words(from);
  at[home].written = words(home);
  return at;
}

OperatorCost moving_cost(const Accelerator& accelerator, const WordsByLevel& at, Role read, Role written) {
  OperatorCost cost;
  for (const auto& [level, moved] : at) {
    const Memory& memory = accelerator.levels[static_cast<std::size_t>(level)].memory();
    cost.energy_pj += moved.read * memory.read_pj + moved.written * memory.write_pj;
    cost.cycles = std::max(cost.cycles, cycles_at(memory, moved, read, written));
  }
  cost.cycles = whole_cycles(cost.cycles);  // as the ports of a layer
  cost.energy_pj += cost.cycles * leak_pj_per_cycle(accelerator);
  return cost;
}

OperatorCost with_vector_work(const Accelerator& accelerator, OperatorCost moving, double ops) {
  if (!accelerator.vector || ops == 0) return moving;
  const double waits = std::max(0.0, whole_cycles(ops / accelerator.vector->lanes) - moving.cycles);
  return {moving.energy_pj + ops * accelerator.vector->pj_per_op + waits * leak_pj_per_cycle(accelerator),
          moving.cycles + waits};
}

OperatorCost operator_cost(const std::vector<Task>& rows, const Step& step, const LiveTensors& live,
                           const std::vector<Home>& homes, Home made) {
  const Accelerator& accelerator = rows.front().accelerator;
  return with_vector_work(
      accelerator, moving_cost(accelerator, operator_words(rows, step, live, homes, made), Role::kInput, Role::kOutput),
      step.vector_ops);
}

OperatorCost loading_cost(const std::vector<Task>& rows, const LiveTensors& live, const StandingWeights& weights,
                          Home home) {
  return moving_cost(rows.front().accelerator, loading_words(rows, live, weights, home), Role::kWeight, Role::kWeight);
}

NetworkParts::Part operators_outside(const LiveTensors& live, const std::vector<Task>& rows) {
  NetworkParts::Part all;
  for (const Step& step : live.steps) {
    if (step.row >= 0 || !step.costs()) continue;
    const OperatorCost cost = operator_cost(rows, step, live, std::vector<Home>(step.reads.size(), kOutside), kOutside);
    all.count += step.count;
    all.energy_pj += cost.energy_pj;
    all.cycles += cost.cycles;
  }
  return all;
}

}  // namespace pliant::residency
