// SPDX-License-Identifier: Apache-2.0
#include "dse/design/sized_task.h"

#include <algorithm>

#include "core/arithmetic.h"
#include "dse/design/size_tables.h"
#include "flex/mapspace/rules.h"

namespace pliant {

namespace {

void add_bits(const ElementBits& bits, std::vector<double>& sizes) {
  for (const std::optional<int>& of_role : bits.of) sizes.push_back(-of_role.value_or(0));
  sizes.push_back(-bits.partial_sums.value_or(0));
}

void add_memory(const Memory& memory, std::vector<double>& sizes) {
  sizes.push_back(static_cast<double>(memory.capacity_words.value_or(0)));
  for (const Count words : memory.reserved_words) sizes.push_back(-static_cast<double>(words));
  for (const double energy : {memory.read_pj, memory.write_pj, memory.update_pj}) sizes.push_back(-energy);
  for (const auto& words : {memory.read_words_per_cycle, memory.write_words_per_cycle, memory.bus_words_per_cycle})
    sizes.push_back(words.value_or(kInfinity));
  add_bits(memory.bits, sizes);
}

void add_fanout(const Fanout& fanout, const ShapeRule& shape, std::vector<double>& sizes) {
  const auto rows = static_cast<double>(fanout.rows), cols = static_cast<double>(fanout.cols);
  switch (shape.kind) {
    case ShapeRule::Kind::kFree: sizes.push_back(static_cast<double>(fanout.units())); break;
    case ShapeRule::Kind::kFixed: sizes.insert(sizes.end(), {rows, cols}); break;
    // How many blocks stand beside each other follows from both sides: only the same array is no worse.
    case ShapeRule::Kind::kBlocks: sizes.insert(sizes.end(), {rows, cols, -rows, -cols}); break;
  }
  sizes.push_back(-fanout.pj_per_bit);
}

}  // namespace

std::optional<SizedTask> sized_task(const Task& task) {
  if (task.objective == Objective::kEdpOverUtilization || task.accelerator.hints.min_utilization > 0)
    return std::nullopt;
  SizedTask sized;
  sized.sizes.push_back(task.most_cycles);
  std::vector<double>& sizes = sized.sizes;
  double leak = 0, instances = 1;
  for (std::size_t l = 0; l < task.accelerator.levels.size(); ++l) {
    const Level& level = task.accelerator.levels[l];
    if (level.is_memory()) {
      add_memory(level.memory(), sizes);
      leak += instances * level.memory().leak_pj_per_cycle;
    } else if (level.is_fanout()) {
      add_fanout(level.fanout(), level_rules(task.flexibility, l).shape, sizes);
      instances *= static_cast<double>(level.fanout().units());
    } else {
      sizes.insert(sizes.end(), {-level.compute().mac_pj, -level.compute().cycles_per_mac});
      leak += instances * level.compute().leak_pj_per_cycle;
    }
  }
  sizes.push_back(-leak);  // of all instances together: more of them may leak more
  add_bits(task.accelerator.bits, sizes);

  // What is left out here changes no mapping and no price; the task has its own flexibility.
  sized.form = {task.layer, without_sizes(task.accelerator), task.flexibility, task.factorization, task.objective};
  sized.form.layer.name.clear();
  sized.form.flexibility.name.clear();
  Accelerator& form = sized.form.accelerator;
  form.name.clear();
  form.description.clear();
  form.clock_hz.reset();
  form.flexibility = {};
  form.flexibility_for.clear();
  form.baseline = {};
  form.partial.clear();
  form.base_area_um2 = 0;
  form.flexibility_area_from.clear();
  for (Level& level : form.levels)
    if (level.is_memory()) level.memory().technology.clear();
  return sized;
}

bool no_worse(const std::vector<double>& better, const std::vector<double>& worse) {
  return std::ranges::equal(better, worse, std::greater_equal{});
}

}  // namespace pliant
