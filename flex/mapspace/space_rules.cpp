// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/space_rules.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/affine.h"
#include "core/arithmetic.h"
#include "flex/mapspace/count.h"
#include "flex/mapspace/factors.h"

namespace pliant {

namespace {

DimSet set_of(const Layer& layer, const std::vector<std::string>& names) {
  DimSet set = 0;
  for (const std::string& name : names)
    if (const int d = layer.find_dim(name); d >= 0) set |= DimSet{1} << d;
  return set;
}

MemoryRules memory_rules(const Layer& layer, const Accelerator& accelerator, const LevelFlexibility& rules, int level) {
  const Memory& memory = accelerator.levels[static_cast<std::size_t>(level)].memory();
  MemoryRules result;
  result.level = level;
  if (memory.capacity_words) result.capacity_words = *memory.capacity_words / std::max(1, memory.buffers);
  if (rules.tile.partition && result.capacity_words) {
    const auto& shares = *rules.tile.partition;
    const double whole = shares[0] + shares[1] + shares[2];
    auto& words = result.share_words.emplace();
    // A share such as 1/3 is not exact in binary; words are whole, so a little slack decides rightly.
    for (std::size_t r = 0; r < kRoles; ++r)
      words[r] = (whole > 0 ? shares[r] / whole : 0) * static_cast<double>(*result.capacity_words) * (1 + 1e-12);
  }
  result.fixed.assign(layer.dims.size(), 0);
  for (const TileRule::Tile& tile : rules.tile.fixed)
    if (const int d = layer.find_dim(tile.dim); d >= 0)
      result.fixed[static_cast<std::size_t>(d)] = std::max<Count>(1, tile.size);
  for (std::size_t d = 0; d < layer.dims.size(); ++d) {
    const auto& allowed = rules.loops.dims;
    if (layer.dims[d].size > 1 && (!allowed || std::ranges::find(*allowed, layer.dims[d].name) != allowed->end()))
      result.may_loop |= DimSet{1} << d;
  }
  result.keeps = keep_choices(layer, accelerator, level);
  result.orders = OrderSpace(layer, rules.order);
  return result;
}

}  // namespace

bool FanoutRules::holds(Count used_rows, Count used_cols) const {
  switch (shape.kind) {
    case ShapeRule::Kind::kFixed: return used_rows <= rows && used_cols <= cols;
    case ShapeRule::Kind::kFree: return used_rows <= units() / used_cols;
    case ShapeRule::Kind::kBlocks: {
      // Rows are whole blocks, at most as many as there are; the columns are what is left of the units.
      const Count tall = ceil_div(used_rows, shape.block_rows);
      return tall <= units() / (shape.block_rows * shape.block_cols) &&
             used_cols <= units() / (tall * shape.block_rows);
    }
  }
  return false;
}

bool FanoutRules::assigns(DimSet over_rows, DimSet over_cols) const {
  if (max_dims_per_side > 0 && std::max(std::popcount(over_rows), std::popcount(over_cols)) > max_dims_per_side)
    return false;
  return assignments.empty() || std::ranges::any_of(assignments, [&](const auto& assignment) {
           return (over_rows & ~assignment.first) == 0 && (over_cols & ~assignment.second) == 0;
         });
}

SpaceRules::SpaceRules(const Layer& the_layer, const Accelerator& the_accelerator, const Flexibility& the_flexibility,
                       Factorization the_rule)
    : layer(the_layer), accelerator(the_accelerator), flexibility(the_flexibility), rule(the_rule) {
  flexibility.levels.resize(accelerator.levels.size());
  memory_at.assign(accelerator.levels.size(), -1);
  fanout_at.assign(accelerator.levels.size(), -1);
  for (std::size_t k = 0; k < accelerator.levels.size(); ++k) {
    const Level& level = accelerator.levels[k];
    const LevelFlexibility& rules = flexibility.levels[k];
    if (level.is_memory()) {
      memory_at[k] = static_cast<int>(memories.size());
      memories.push_back(memory_rules(layer, accelerator, rules, static_cast<int>(k)));
    } else if (level.is_fanout()) {
      fanout_at[k] = static_cast<int>(fanouts.size());
      FanoutRules fanout{static_cast<int>(k),
                         level.fanout().rows,
                         level.fanout().cols,
                         rules.shape,
                         {},
                         rules.parallel.max_dims_per_side};
      for (const Assignment& assignment : rules.parallel.assignments)
        fanout.assignments.emplace_back(set_of(layer, assignment.rows), set_of(layer, assignment.cols));
      fanouts.push_back(std::move(fanout));
    }
  }
  for (std::size_t d = 0; d < layer.dims.size(); ++d) {
    const DimSlots all = slots_of(layer, accelerator, flexibility, static_cast<int>(d));
    auto& own = slots.emplace_back();
    for (std::size_t s = all.slots.size(); s-- > 0;)
      own.push_back({all.levels[s], all.slots[s].spatial, all.sides[s], all.slots[s].limit});
  }
}

double SpaceRules::words(int tensor, std::span<const Count> tiles) const {
  double product = 1;
  std::array<Stride, kMaxDims> strides;
  for (const Rank& rank : layer.tensors[static_cast<std::size_t>(tensor)].ranks) {
    if (rank.terms.size() == 1) {
      product *= static_cast<double>(tiles[static_cast<std::size_t>(rank.terms[0].dim)]);
      if (accelerator.conventions.footprint == Conventions::Footprint::kDistinct || rank.terms[0].coefficient == 1)
        continue;
      product /= static_cast<double>(tiles[static_cast<std::size_t>(rank.terms[0].dim)]);
    }
    std::size_t n = 0;
    for (const Term& term : rank.terms) strides[n++] = {term.coefficient, tiles[static_cast<std::size_t>(term.dim)]};
    const std::span<const Stride> used(strides.data(), n);
    product *= static_cast<double>(accelerator.conventions.footprint == Conventions::Footprint::kDistinct
                                       ? distinct_values(used)
                                       : bounding_extent(used));
  }
  return product;
}

bool SpaceRules::fits(const MemoryRules& memory, TensorSet keeps, std::span<const Count> tiles) const {
  if (!memory.capacity_words) return true;
  double total = 0;
  std::array<double, kRoles> by_role{};
  for (std::size_t x = 0; x < layer.tensors.size(); ++x) {
    if ((keeps >> x & 1) == 0) continue;
    const double needed = words(static_cast<int>(x), tiles);
    total += needed;
    by_role[static_cast<std::size_t>(layer.tensors[x].role)] += needed;
  }
  if (total > static_cast<double>(*memory.capacity_words)) return false;
  if (!memory.share_words) return true;
  for (std::size_t r = 0; r < kRoles; ++r)
    if (by_role[r] > (*memory.share_words)[r]) return false;
  return true;
}

std::vector<Count> slot_bounds(Count size, Count tile, const LoopSlot& slot, Factorization rule) {
  const Count left = ceil_div(size, tile);
  const Count most = slot.limit == 0 ? left : std::min(left, slot.limit);
  std::vector<Count> bounds;
  if (may_be_imperfect(rule, slot.spatial)) {
    bounds.resize(static_cast<std::size_t>(most));
    for (Count b = 1; b <= most; ++b) bounds[static_cast<std::size_t>(b - 1)] = b;
  } else {
    for (const Count b : divisors(left))
      if (b <= most) bounds.push_back(b);
  }
  return bounds;
}

}  // namespace pliant
