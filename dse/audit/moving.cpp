// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/moving.h"

#include <algorithm>
#include <cmath>

#include "core/wide.h"

namespace pliant::audit {

MovingCost cost_of_moving(const Accelerator& accelerator, const WordsMoved& moved, Role read_as, Role written_as) {
  MovingCost cost;
  double busiest = 0;
  for (const auto& [level, words] : moved) {
    const auto& [read, written] = words;
    const Memory& memory = accelerator.levels[static_cast<std::size_t>(level)].memory();
    cost.energy_pj += read * memory.read_pj + written * memory.write_pj;
    const auto port = [&](const std::optional<double>& rate, double passing) {
      if (rate) busiest = std::max(busiest, passing / *rate);
    };
    port(memory.read_words_per_cycle, read);
    port(memory.write_words_per_cycle, written);
    port(memory.bus_words_per_cycle, read + written);
    port(memory.bandwidth_of[static_cast<std::size_t>(read_as)].read, read);
    port(memory.bandwidth_of[static_cast<std::size_t>(read_as)].bus, read);
    port(memory.bandwidth_of[static_cast<std::size_t>(written_as)].write, written);
    port(memory.bandwidth_of[static_cast<std::size_t>(written_as)].bus, written);
  }
  cost.cycles = std::ceil(busiest * (1 - 0x1p-46));
  cost.energy_pj += cost.cycles * leaks_per_cycle(accelerator);
  return cost;
}

double leaks_per_cycle(const Accelerator& accelerator) {
  double all = 0;
  for (int l = 0; l < static_cast<int>(accelerator.levels.size()); ++l) {
    const Level& level = accelerator.levels[static_cast<std::size_t>(l)];
    const double leak = level.is_memory()    ? level.memory().leak_pj_per_cycle
                        : level.is_compute() ? level.compute().leak_pj_per_cycle
                                             : 0;
    all += leak * static_cast<double>(accelerator.instances(l));
  }
  return all;
}

int outermost_of(const Accelerator& accelerator, Role role) {
  for (int l = 0; l < static_cast<int>(accelerator.levels.size()); ++l) {
    const Level& level = accelerator.levels[static_cast<std::size_t>(l)];
    if (level.is_memory() && level.memory().may_keep[static_cast<std::size_t>(role)]) return l;
  }
  return 0;
}

bool may_stand_in(const Layer& layer, int operand, const Accelerator& accelerator, int level) {
  const Role role = layer.tensors[static_cast<std::size_t>(operand)].role;
  if (std::ranges::count(layer.tensors, role, &Tensor::role) != 1) return false;
  const Level& here = accelerator.levels[static_cast<std::size_t>(level)];
  return here.is_memory() && here.memory().may_keep[static_cast<std::size_t>(role)] &&
         outermost_of(accelerator, role) < level;
}

Count whole_words(const Accelerator& accelerator, Count elements, int bits, int level) {
  const Wide all = static_cast<Wide>(elements) * bits;
  const Wide word = accelerator.levels[static_cast<std::size_t>(level)].memory().word_bits;
  return static_cast<Count>(all / word + (all % word == 0 ? 0 : 1));
}

}  // namespace pliant::audit
