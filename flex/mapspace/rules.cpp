// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/rules.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace pliant {

namespace {

/// A share such as 1/3 is not exact in binary; words are whole, so a little slack decides rightly.
constexpr double kShareSlack = 1 + 1e-12;

DimSet dims_named(const Layer& layer, const std::vector<std::string>& names) {
  DimSet set = 0;
  for (const std::string& name : names)
    if (const int d = layer.find_dim(name); d >= 0) set |= DimSet{1} << d;
  return set;
}

DimSet looping_dims(const Layer& layer) {
  DimSet set = 0;
  for (std::size_t d = 0; d < layer.dims.size(); ++d)
    if (layer.dims[d].size > 1) set |= DimSet{1} << d;
  return set;
}

bool all_loop(const Layer& layer, const std::vector<std::string>& names) {
  return !names.empty() && std::ranges::all_of(names, [&](const std::string& name) {
    const int d = layer.find_dim(name);
    return d >= 0 && layer.dims[static_cast<std::size_t>(d)].size > 1;
  });
}

void resolve_keeps(const Layer& layer, const Accelerator& accelerator, MemoryRules& rules) {
  const Memory& memory = accelerator.levels[static_cast<std::size_t>(rules.level)].memory();
  rules.tensors = static_cast<int>(layer.tensors.size());
  rules.keeps = {0};
  for (std::size_t x = 0; x < layer.tensors.size(); ++x) {
    const auto role = static_cast<std::size_t>(layer.tensors[x].role);
    rules.role[x] = layer.tensors[x].role;
    if (!memory.may_keep[role]) continue;
    const bool outermost = std::none_of(accelerator.levels.begin(), accelerator.levels.begin() + rules.level,
                                        [&](const Level& l) { return l.is_memory() && l.memory().may_keep[role]; });
    rules.may_keep |= TensorSet{1} << x;
    if (outermost || !memory.may_bypass[role]) {
      rules.must_keep |= TensorSet{1} << x;
      continue;
    }
    const std::size_t without = rules.keeps.size();
    for (std::size_t i = 0; i < without; ++i) rules.keeps.push_back(rules.keeps[i] | TensorSet{1} << x);
  }
  for (TensorSet& choice : rules.keeps) choice |= rules.must_keep;
}

/// How many bits are a unit, by their greatest common divisor.
void count_units(const Layer& layer, const Accelerator& accelerator, int level, MemoryRules& rules) {
  const int word_bits = accelerator.levels[static_cast<std::size_t>(level)].memory().word_bits;
  int unit = word_bits;
  for (std::size_t x = 0; x < layer.tensors.size(); ++x)
    unit = std::gcd(unit, accelerator.held_bits(level, layer, static_cast<int>(x)));
  rules.word = word_bits / unit;
  for (std::size_t x = 0; x < layer.tensors.size(); ++x)
    rules.element[x] = accelerator.held_bits(level, layer, static_cast<int>(x)) / unit;
}

}  // namespace

const LevelFlexibility& level_rules(const Flexibility& flexibility, std::size_t level) {
  static const LevelFlexibility unrestricted;
  return level < flexibility.levels.size() ? flexibility.levels[level] : unrestricted;
}

MemoryRules memory_rules(const Layer& layer, const Accelerator& accelerator, const LevelFlexibility& written,
                         int level) {
  const Memory& memory = accelerator.levels[static_cast<std::size_t>(level)].memory();
  MemoryRules rules;
  rules.level = level;
  count_units(layer, accelerator, level, rules);
  const int buffers = std::max(1, memory.buffers);
  Count reserved = 0;
  for (const Count words : memory.reserved_words) reserved += words;
  if (memory.capacity_words)
    rules.capacity = reserved > *memory.capacity_words
                         ? -1
                         : static_cast<double>((*memory.capacity_words - reserved) / buffers) * rules.word;
  for (std::size_t r = 0; r < kRoles; ++r)
    if (memory.resident[r]) rules.resident |= layer.tensors_with_role(static_cast<Role>(r));
  rules.shares = written.tile.partition;
  if (rules.shares && rules.is_limited()) {
    double whole = 0;
    for (const double share : *rules.shares) whole += share;
    for (std::size_t r = 0; r < kRoles; ++r)
      rules.share_units[r] = ((whole > 0 ? (*rules.shares)[r] / whole : 0) *
                                  static_cast<double>(*memory.capacity_words / buffers) * kShareSlack -
                              static_cast<double>(memory.reserved_words[r]) / buffers) *
                             rules.word;
  }
  rules.burst = static_cast<double>(written.tile.burst);
  rules.has_fixed_tile = !written.tile.fixed.empty();
  for (const TileRule::Tile& tile : written.tile.fixed)
    if (const int d = layer.find_dim(tile.dim); d >= 0)
      rules.fixed[static_cast<std::size_t>(d)] = std::max<Count>(1, tile.size);
  rules.may_loop = looping_dims(layer);
  if (written.loops.dims) rules.may_loop &= dims_named(layer, *written.loops.dims);
  resolve_keeps(layer, accelerator, rules);
  rules.orders = OrderRules(layer, written.order);
  return rules;
}

FanoutRules fanout_rules(const Layer& layer, const Accelerator& accelerator, const LevelFlexibility& written,
                         int level) {
  const Fanout& fanout = accelerator.levels[static_cast<std::size_t>(level)].fanout();
  FanoutRules rules;
  rules.level = level;
  rules.rows = fanout.rows;
  rules.cols = fanout.cols;
  rules.shape_ = written.shape;
  if (written.parallel.max_dims_per_side > 0) rules.max_dims_per_side = written.parallel.max_dims_per_side;
  rules.any_dims = written.parallel.assignments.empty();
  for (const Assignment& assignment : written.parallel.assignments)
    rules.assignments.push_back({dims_named(layer, assignment.rows), dims_named(layer, assignment.cols),
                                 !all_loop(layer, assignment.rows), !all_loop(layer, assignment.cols)});
  if (rules.any_dims) {
    const DimSet all = (DimSet{1} << layer.dims.size()) - 1;
    const bool some_idle = looping_dims(layer) != all;
    rules.assignments.push_back({all, all, some_idle, some_idle});
  }
  // Wires that sum take no dim that tells outputs apart.
  const DimSet apart = layer.coupled(layer.output());
  for (const Side side : {Side::kRows, Side::kCols}) {
    if (!fanout.sums_along(side)) continue;
    for (FanoutRules::Sides& sides : rules.assignments) {
      DimSet& dims = side == Side::kRows ? sides.rows : sides.cols;
      (side == Side::kRows ? sides.rows_idle : sides.cols_idle) |= (dims & apart) != 0;
      dims &= ~apart;
    }
  }
  return rules;
}

Count FanoutRules::columns_beside(Count used_rows) const {
  switch (shape_.kind) {
    case ShapeRule::Kind::kFixed: return used_rows <= rows ? cols : 0;
    case ShapeRule::Kind::kFree: return units() / used_rows;
    case ShapeRule::Kind::kBlocks: {
      // Rows are whole blocks, at most as many as there are; the columns are what is left of the units.
      const Count shape_rows = ceil_div(used_rows, shape_.block_rows) * shape_.block_rows;
      return shape_rows <= longest(Side::kRows) ? units() / shape_rows : 0;
    }
  }
  return 0;
}

Count FanoutRules::longest(Side side) const {
  switch (shape_.kind) {
    case ShapeRule::Kind::kFixed: return side == Side::kRows ? rows : cols;
    case ShapeRule::Kind::kFree: return units();
    case ShapeRule::Kind::kBlocks: {
      const Count blocks = units() / (shape_.block_rows * shape_.block_cols);
      return side == Side::kRows ? blocks * shape_.block_rows : units() / shape_.block_rows;
    }
  }
  return 1;
}

std::vector<Count> FanoutRules::row_counts() const {
  if (shape_.kind == ShapeRule::Kind::kFixed) return {rows};
  const Count step = shape_.kind == ShapeRule::Kind::kBlocks ? shape_.block_rows : 1;
  std::vector<Count> counts;
  for (Count n = step; n <= longest(Side::kRows); n += step) counts.push_back(n);
  return counts;
}

bool FanoutRules::assigns(DimSet over_rows, DimSet over_cols) const {
  if (std::max(std::popcount(over_rows), std::popcount(over_cols)) > max_dims_per_side) return false;
  return std::ranges::any_of(assignments, [&](const Sides& sides) {
    return (over_rows & ~sides.rows) == 0 && (over_cols & ~sides.cols) == 0;
  });
}

bool FanoutRules::may_run_over(Side side, int dim) const {
  return std::ranges::any_of(assignments, [&](const Sides& sides) {
    return ((side == Side::kRows ? sides.rows : sides.cols) >> dim & 1U) != 0;
  });
}

MapSpaceRules::MapSpaceRules(const Layer& the_layer, const Accelerator& the_accelerator, const Flexibility& flexibility,
                             Factorization the_factorization)
    : layer(the_layer), accelerator(the_accelerator), factorization(the_factorization) {
  const std::size_t levels = accelerator.levels.size();
  memory_at_.assign(levels, -1);
  fanout_at_.assign(levels, -1);
  slots.resize(layer.dims.size());
  for (std::size_t k = 0; k < levels; ++k) {
    const auto level = static_cast<int>(k);
    const LevelFlexibility& written = level_rules(flexibility, k);
    if (accelerator.levels[k].is_memory()) {
      memory_at_[k] = static_cast<int>(memories.size());
      const MemoryRules& memory = memories.emplace_back(memory_rules(layer, accelerator, written, level));
      // A dim of size 1 has nothing to place; its bound of 1 may stand anywhere.
      for (std::size_t d = 0; d < slots.size(); ++d)
        if ((memory.may_loop >> d & 1U) != 0 || layer.dims[d].size == 1) slots[d].push_back({.level = level});
    } else if (accelerator.levels[k].is_fanout()) {
      fanout_at_[k] = static_cast<int>(fanouts.size());
      const FanoutRules& fanout = fanouts.emplace_back(fanout_rules(layer, accelerator, written, level));
      for (std::size_t d = 0; d < slots.size(); ++d)
        for (const Side side : {Side::kRows, Side::kCols})
          if (const Count limit = fanout.longest(side); limit > 1 && fanout.may_run_over(side, static_cast<int>(d)))
            slots[d].push_back({.spatial = true, .limit = limit, .level = level, .side = side});
    }
  }
  if (factorization == Factorization::kPadding) {
    // Elements are told apart by the dims' sizes; padding less than doubles them.
    Layer padded = layer;
    for (Dim& dim : padded.dims) dim.size *= 2;
    footprint = Footprint(padded, accelerator.conventions.footprint);
  } else {
    footprint = Footprint(layer, accelerator.conventions.footprint);
  }
}

bool MapSpaceRules::allows_smaller_tiles(int dim) const {
  return std::ranges::all_of(memories, [&](const MemoryRules& memory) { return memory.allows_smaller(dim); });
}

}  // namespace pliant
