// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/count.h"

#include "flex/mapspace/chain_count.h"
#include "flex/mapspace/factors.h"
#include "flex/mapspace/rules.h"

namespace pliant {

BigCount MapSpaceSize::total() const {
  BigCount product = 1;
  for (const auto* factors : {&chains, &orders, &bypasses})
    for (const BigCount& factor : *factors) product *= factor;
  return product;
}

MapSpaceSize map_space_size(const Layer& layer, const Accelerator& accelerator, const Flexibility& flexibility,
                            Factorization rule) {
  const MapSpaceRules rules(layer, accelerator, flexibility, rule);
  MapSpaceSize size;
  for (std::size_t d = 0; d < layer.dims.size(); ++d)
    size.chains.push_back(count_chains(layer.dims[d].size, rules.slots[d], rule));
  size.orders.assign(accelerator.levels.size(), 1);
  size.bypasses.assign(accelerator.levels.size(), 1);
  for (const MemoryRules& memory : rules.memories) {
    size.orders[static_cast<std::size_t>(memory.level)] = memory.orders.count(memory.may_loop);
    size.bypasses[static_cast<std::size_t>(memory.level)] = memory.keeps.size();
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
