// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/mapspace.h"

#include <algorithm>

namespace pliant {

MapSpace::MapSpace(const Layer& layer, const Accelerator& accelerator, const Flexibility& flexibility,
                   Factorization factorization)
    : rules(layer, accelerator, flexibility, factorization),
      dims(static_cast<int>(layer.dims.size())),
      levels(static_cast<int>(accelerator.levels.size()) - 1) {
  for (const MemoryRules& memory : rules.memories) memories.push_back(memory.level);
  for (const FanoutRules& fanout : rules.fanouts) fanouts.push_back(fanout.level);
}

Chain MapSpace::make_chain(int dim, std::span<const Count> bounds) const {
  Chain chain;
  chain.bound.fill(1);
  chain.rows.fill(1);
  chain.cols.fill(1);
  Count product = 1;
  for (std::size_t s = 0; s < bounds.size(); ++s) {
    const Slot& slot = slots(dim)[s];
    const auto l = static_cast<std::size_t>(slot.level);
    chain.bound[l] *= bounds[s];
    if (slot.spatial) (slot.side == Side::kRows ? chain.rows : chain.cols)[l] = bounds[s];
    product *= bounds[s];
  }
  chain.size = rules.factorization == Factorization::kPadding ? product : size(dim);
  Count tile = 1;
  for (auto l = static_cast<std::size_t>(levels); l-- > 0;) {
    tile = std::min(tile * chain.bound[l], chain.size);
    chain.tile[l] = tile;
  }
  return chain;
}

bool MapSpace::tiles_allowed(int dim, const Chain& chain) const {
  return std::ranges::all_of(rules.memories, [&](const MemoryRules& memory) {
    const Count fixed = rules.fixed_tile(memory, dim, chain.size);
    return fixed == 0 || chain.tile[static_cast<std::size_t>(memory.level)] == fixed;
  });
}

std::vector<Chain> MapSpace::chains(int dim) const {
  std::vector<Chain> all;
  for_each_chain(size(dim), slots(dim), rules.factorization, [&](std::span<const Count> bounds) {
    Chain chain = make_chain(dim, bounds);
    if (tiles_allowed(dim, chain)) all.push_back(chain);
    return true;
  });
  return all;
}

bool MapSpace::fanouts_allowed(const Candidate& candidate, int first_free) const {
  for (const FanoutRules& fanout : rules.fanouts) {
    const auto l = static_cast<std::size_t>(fanout.level);
    Count rows = 1, cols = 1;
    DimSet row_dims = 0, col_dims = 0;
    for (int d = 0; d < first_free; ++d) {
      const Chain& chain = *candidate.chain[static_cast<std::size_t>(d)];
      rows *= chain.rows[l];
      cols *= chain.cols[l];
      if (chain.rows[l] > 1) row_dims |= DimSet{1} << d;
      if (chain.cols[l] > 1) col_dims |= DimSet{1} << d;
    }
    if (!fanout.holds(rows, cols) || !fanout.assigns(row_dims, col_dims)) return false;
  }
  return true;
}

bool MapSpace::memory_overflows(int level, const Candidate& candidate, TensorSet keeps, int first_free) const {
  const auto tile = [&](int d) {
    return d < first_free ? candidate.chain[static_cast<std::size_t>(d)]->tile[static_cast<std::size_t>(level)] : 1;
  };
  return rules.memory(level).overflows(keeps, [&](int x) { return rules.footprint.words(x, tile); });
}

bool MapSpace::memory_allowed(int level, const Candidate& candidate, TensorSet keeps) const {
  const auto tile = [&](int d) {
    return candidate.chain[static_cast<std::size_t>(d)]->tile[static_cast<std::size_t>(level)];
  };
  return rules.memory(level).holds(keeps, [&](int x) { return rules.footprint.words(x, tile); });
}

DimSet MapSpace::loops_at(int level, const Candidate& candidate) const {
  DimSet loops = 0;
  for (int d = 0; d < dims; ++d)
    if (candidate.chain[static_cast<std::size_t>(d)]->bound[static_cast<std::size_t>(level)] > 1)
      loops |= DimSet{1} << d;
  return loops;
}

bool MapSpace::order_allowed(int level, const Candidate& candidate) const {
  const MemoryRules& memory = rules.memory(level);
  if (memory.orders.any_order()) return true;
  const auto l = static_cast<std::size_t>(level);
  std::array<std::uint8_t, kMaxDims> loops;
  std::size_t n = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(dims); ++i)
    if (candidate.chain[candidate.order[l][i]]->bound[l] > 1) loops[n++] = candidate.order[l][i];
  return memory.orders.allows({loops.data(), n});
}

bool MapSpace::legal(const Candidate& candidate) const {
  for (int d = 0; d < dims; ++d)
    if (!tiles_allowed(d, *candidate.chain[static_cast<std::size_t>(d)])) return false;
  if (!fanouts_allowed(candidate, dims)) return false;
  return std::ranges::all_of(rules.memories, [&](const MemoryRules& memory) {
    const auto l = static_cast<std::size_t>(memory.level);
    return memory_allowed(memory.level, candidate, candidate.keeps[l]) && order_allowed(memory.level, candidate);
  });
}

Mapping MapSpace::mapping(const Candidate& candidate) const {
  Mapping mapping = empty_mapping(rules.layer, rules.accelerator);
  const auto count = static_cast<std::size_t>(dims);
  for (const MemoryRules& memory : rules.memories) {
    const auto l = static_cast<std::size_t>(memory.level);
    mapping.levels[l].keeps = candidate.keeps[l];
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint8_t d = candidate.order[l][i];
      if (candidate.chain[d]->bound[l] > 1) mapping.levels[l].temporal.push_back({d, candidate.chain[d]->bound[l]});
    }
  }
  for (const FanoutRules& fanout : rules.fanouts) {
    const auto l = static_cast<std::size_t>(fanout.level);
    for (const Side side : {Side::kRows, Side::kCols})
      for (std::size_t d = 0; d < count; ++d) {
        const Count bound = (side == Side::kRows ? candidate.chain[d]->rows : candidate.chain[d]->cols)[l];
        if (bound > 1) mapping.levels[l].spatial.push_back({static_cast<int>(d), bound, side});
      }
  }
  if (rules.factorization == Factorization::kPadding)
    for (std::size_t d = 0; d < count; ++d) mapping.padded.push_back(candidate.chain[d]->size);
  return mapping;
}

}  // namespace pliant
