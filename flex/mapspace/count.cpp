// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/count.h"

#include <algorithm>

#include "flex/mapspace/orders.h"

namespace pliant {

namespace {

const LevelFlexibility& rules_of(const Flexibility& flexibility, std::size_t level) {
  static const LevelFlexibility unrestricted;
  return level < flexibility.levels.size() ? flexibility.levels[level] : unrestricted;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool may_loop(const LoopRule& rule, const std::string& dim) { return !rule.dims || contains(*rule.dims, dim); }

bool may_run_over(const ParallelRule& rule, Side side, const std::string& dim) {
  return rule.assignments.empty() ||
         std::any_of(rule.assignments.begin(), rule.assignments.end(), [&](const Assignment& assignment) {
           return contains(side == Side::kRows ? assignment.rows : assignment.cols, dim);
         });
}

/// How long a side can be made, whatever the other side is then.
Count longest_side(const Fanout& fanout, const ShapeRule& rule, Side side) {
  switch (rule.kind) {
    case ShapeRule::Kind::kFixed: return side == Side::kRows ? fanout.rows : fanout.cols;
    case ShapeRule::Kind::kFree: return fanout.units();
    case ShapeRule::Kind::kBlocks: {
      const Count blocks = fanout.units() / (rule.block_rows * rule.block_cols);
      return side == Side::kRows ? blocks * rule.block_rows : fanout.units() / rule.block_rows;
    }
  }
  return 1;
}

}  // namespace

DimSlots slots_of(const Layer& layer, const Accelerator& accelerator, const Flexibility& flexibility, int dim) {
  const std::string& name = layer.dims[static_cast<std::size_t>(dim)].name;
  DimSlots all;
  const auto add = [&all](Slot slot, std::size_t level, Side side) {
    all.slots.push_back(slot);
    all.levels.push_back(static_cast<int>(level));
    all.sides.push_back(side);
  };
  for (std::size_t k = 0; k < accelerator.levels.size(); ++k) {
    const Level& level = accelerator.levels[k];
    const LevelFlexibility& rules = rules_of(flexibility, k);
    if (level.is_memory() && may_loop(rules.loops, name)) add({}, k, Side::kRows);
    if (!level.is_fanout()) continue;
    for (const Side side : {Side::kRows, Side::kCols}) {
      const Count limit = longest_side(level.fanout(), rules.shape, side);
      if (limit > 1 && may_run_over(rules.parallel, side, name)) add({.spatial = true, .limit = limit}, k, side);
    }
  }
  return all;
}

std::vector<TensorSet> keep_choices(const Layer& layer, const Accelerator& accelerator, int level) {
  const Memory& memory = accelerator.levels[static_cast<std::size_t>(level)].memory();
  TensorSet always = 0;
  std::vector<TensorSet> choices{0};
  for (std::size_t x = 0; x < layer.tensors.size(); ++x) {
    const auto role = static_cast<std::size_t>(layer.tensors[x].role);
    if (!memory.may_keep[role]) continue;
    bool outermost = true;
    for (int k = 0; k < level; ++k) {
      const Level& outside = accelerator.levels[static_cast<std::size_t>(k)];
      if (outside.is_memory() && outside.memory().may_keep[role]) outermost = false;
    }
    if (outermost || !memory.may_bypass[role]) {
      always |= TensorSet{1} << x;
      continue;
    }
    const std::size_t without = choices.size();
    for (std::size_t i = 0; i < without; ++i) choices.push_back(choices[i] | TensorSet{1} << x);
  }
  for (TensorSet& choice : choices) choice |= always;
  return choices;
}

BigCount MapSpaceSize::total() const {
  BigCount product = 1;
  for (const auto* factors : {&chains, &orders, &bypasses})
    for (const BigCount& factor : *factors) product *= factor;
  return product;
}

MapSpaceSize map_space_size(const Layer& layer, const Accelerator& accelerator, const Flexibility& flexibility,
                            Factorization rule) {
  MapSpaceSize size;
  for (std::size_t d = 0; d < layer.dims.size(); ++d) {
    const DimSlots slots = slots_of(layer, accelerator, flexibility, static_cast<int>(d));
    size.chains.push_back(count_chains(layer.dims[d].size, slots.slots, rule));
  }
  for (std::size_t k = 0; k < accelerator.levels.size(); ++k) {
    const LevelFlexibility& rules = rules_of(flexibility, k);
    DimSet loops = 0;
    for (std::size_t d = 0; d < layer.dims.size(); ++d)
      if (layer.dims[d].size > 1 && may_loop(rules.loops, layer.dims[d].name)) loops |= DimSet{1} << d;
    const bool memory = accelerator.levels[k].is_memory();
    size.orders.push_back(memory ? count_orders(layer, loops, rules.order) : BigCount(1));
    size.bypasses.push_back(memory ? BigCount(keep_choices(layer, accelerator, static_cast<int>(k)).size())
                                   : BigCount(1));
  }
  return size;
}

BigCount quickflow_map_space_size(const Layer& layer, int levels, int memories) {
  const BigCount orders = factorial(static_cast<int>(layer.dims.size()));
  BigCount size = 1;
  for (int m = 0; m < memories; ++m) size *= orders;
  for (const Dim& dim : layer.dims) size *= count_perfect_chains(dim.size, levels);
  return size;
}

BigCount quickflow_map_space_size(const Layer& layer, const Accelerator& accelerator) {
  int levels = 0, memories = 0;
  for (const Level& level : accelerator.levels) {
    if (level.is_memory()) ++memories;
    if (level.is_fanout()) levels += (level.fanout().rows > 1) + (level.fanout().cols > 1);
  }
  return quickflow_map_space_size(layer, levels + memories, memories);
}

}  // namespace pliant
