// SPDX-License-Identifier: Apache-2.0
// Of the checker: the rules of one memory and of one fanout.
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "core/legality_judge.h"

namespace pliant::legality {

namespace {

const char* word(Side side) { return side == Side::kRows ? "rows" : "columns"; }

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string list(const std::vector<std::string>& names) {
  std::string joined;
  for (const std::string& name : names) joined += (joined.empty() ? "" : ", ") + name;
  return joined.empty() ? "none" : joined;
}

std::string describe(const OrderPattern& pattern) {
  if (pattern.stationary) return std::string(to_string(*pattern.stationary)) + " stationary";
  return list(pattern.dims);
}

}  // namespace

// 4. Tiles: what lies inside a level, its own loops included.
void Judge::grow_tiles(std::size_t k) {
  const auto grow = [this](int dim, Count bound) {
    const auto d = static_cast<std::size_t>(dim);
    tiles_[d] = static_cast<Count>(std::min<Wide>(times(tiles_[d], bound), size(d)));
  };
  for (const Loop& loop : mapping_.levels[k].temporal) grow(loop.dim, loop.bound);
  for (const SpatialLoop& loop : mapping_.levels[k].spatial) grow(loop.dim, loop.bound);
}

// 5. Memories: capacity, hard partition, fixed tile, allowed loops, allowed orders.
void Judge::check_memory(std::size_t k) {
  const Level& level = accelerator_.levels[k];
  const LevelMapping& loops = mapping_.levels[k];
  check_capacity(static_cast<int>(k), loops, rules(k).tile);
  for (const TileRule::Tile& tile : rules(k).tile.fixed) check_fixed_tile(level, tile);
  if (rules(k).tile.burst > 1) check_burst(static_cast<int>(k), loops, rules(k).tile.burst);
  if (const auto& allowed = rules(k).loops.dims) {
    for (const Loop& loop : loops.temporal)
      if (loop.bound > 1 && !contains(*allowed, dim_name(loop.dim)))
        refuse(Rule::kLoops, level.name, {}, dim_name(loop.dim), static_cast<double>(loop.bound), 1,
               dim_name(loop.dim) + " may not loop at " + level.name + "; allowed there: " + list(*allowed));
  }
  check_order(level, loops, rules(k).order);
  check_partial_sums(k);
}

/// Counted in bits; told in words, unless some element is not as wide as a word of the memory.
void Judge::check_capacity(int k, const LevelMapping& loops, const TileRule& rule) {
  const Level& level = accelerator_.levels[static_cast<std::size_t>(k)];
  const Memory& memory = level.memory();
  if (!memory.capacity_words) return;
  const int buffers = std::max(1, memory.buffers);
  Wide reserved = 0;
  for (const Count words : memory.reserved_words) reserved += words;
  if (reserved > *memory.capacity_words)
    return refuse(Rule::kCapacity, level.name, {}, {}, number(reserved), static_cast<double>(*memory.capacity_words),
                  "tensors that live in " + level.name + " need " + text(reserved) + " words; it has " +
                      std::to_string(*memory.capacity_words));
  Wide unit = memory.word_bits;
  const char* unit_name = " words";
  for (std::size_t x = 0; x < layer_.tensors.size(); ++x)
    if (held_bits(k, x) != memory.word_bits) {
      unit = 1;
      unit_name = " bits";
    }
  const Wide units_of_word = memory.word_bits / unit;
  const Wide capacity = (*memory.capacity_words - reserved) / buffers * units_of_word;
  Wide total = 0;
  std::string parts;
  std::array<Wide, kRoles> by_role{};
  std::array<std::string, kRoles> names;
  for (std::size_t x = 0; x < layer_.tensors.size(); ++x) {
    if ((loops.keeps >> x & 1) == 0) continue;
    const Tensor& tensor = layer_.tensors[x];
    const auto role = static_cast<std::size_t>(tensor.role);
    if (memory.resident[role]) continue;  // reserved as a whole
    const Wide held = times(tile_words(tensor, accelerator_.conventions.footprint, tiles_), held_bits(k, x)) / unit;
    total += held;
    by_role[role] += held;
    names[role] += (names[role].empty() ? "" : " + ") + tensor.name;
    parts += (parts.empty() ? "" : ", ") + tensor.name + " " + text(held);
  }
  if (total > capacity)
    refuse(
        Rule::kCapacity, level.name, {}, {}, number(total), number(capacity),
        "tiles at " + level.name + " need " + text(total) + unit_name + " (" + parts + "); it holds " + text(capacity));
  if (!rule.partition) return;
  double shares = 0;
  for (const double share : *rule.partition) shares += share;
  for (std::size_t role = 0; role < kRoles; ++role) {
    const double share = shares > 0 ? (*rule.partition)[role] / shares : 0;
    const double available = (share * static_cast<double>(*memory.capacity_words / buffers) -
                              static_cast<double>(memory.reserved_words[role]) / buffers) *
                             number(units_of_word);
    // A share such as 1/3 is not exact in binary; words are whole, so a little slack decides rightly.
    if (number(by_role[role]) <= available * (1 + 1e-12)) continue;
    refuse(Rule::kTile, level.name, names[role], {}, number(by_role[role]), available,
           names[role] + " at " + level.name + " needs " + text(by_role[role]) + unit_name + "; its partition holds " +
               std::to_string(static_cast<Count>(available)));
  }
}

void Judge::check_burst(int k, const LevelMapping& loops, Count burst) {
  const Level& level = accelerator_.levels[static_cast<std::size_t>(k)];
  const Wide word = level.memory().word_bits;
  for (std::size_t x = 0; x < layer_.tensors.size(); ++x) {
    if ((loops.keeps >> x & 1) == 0) continue;
    const Tensor& tensor = layer_.tensors[x];
    if (level.memory().resident[static_cast<std::size_t>(tensor.role)]) continue;
    const Wide held = times(tile_words(tensor, accelerator_.conventions.footprint, tiles_), held_bits(k, x));
    if (held % (word * burst) == 0) continue;
    const bool whole = held_bits(k, x) == level.memory().word_bits;
    refuse(Rule::kTile, level.name, tensor.name, {}, number(held) / number(word), static_cast<double>(burst),
           "the tile of " + tensor.name + " at " + level.name + " has " + text(whole ? held / word : held) +
               (whole ? " words" : " bits") + "; it must be a multiple of the burst of " + std::to_string(burst) +
               (whole ? "" : " words"));
  }
}

int Judge::held_bits(int k, std::size_t x) const { return accelerator_.held_bits(k, layer_, static_cast<int>(x)); }

/// A temporal loop that must divide cannot reach every tile: there the fixed tile is the largest divisor of the dim
/// that does not exceed it.
Count Judge::clipped(Count fixed, Count whole) const {
  fixed = std::min(fixed, whole);
  if (rule_ == Factorization::kRubyT || rule_ == Factorization::kRuby) return fixed;
  for (Count co = rounded_up(whole, fixed); co <= whole / co; ++co)
    if (whole % co == 0) return whole / co;
  // Divisors at or above the square root have been tried as whole / co; so has everything between it and whole /
  // fixed.
  Count divisor = fixed <= whole / fixed ? fixed : whole / fixed;
  while (whole % divisor != 0) --divisor;
  return divisor;
}

void Judge::check_fixed_tile(const Level& level, const TileRule::Tile& tile) {
  const int dim = layer_.find_dim(tile.dim);
  if (dim < 0) return;
  const auto d = static_cast<std::size_t>(dim);
  const Count wanted = clipped(std::max<Count>(1, tile.size), size(d));
  if (tiles_[d] == wanted) return;
  refuse(Rule::kTile, level.name, {}, tile.dim, static_cast<double>(tiles_[d]), static_cast<double>(wanted),
         "the tile of " + tile.dim + " at " + level.name + " is " + std::to_string(tiles_[d]) + "; it is fixed at " +
             std::to_string(tile.size) + (wanted == tile.size ? "" : ", here " + std::to_string(wanted)));
}

void Judge::check_order(const Level& level, const LevelMapping& loops, const OrderRule& rule) {
  if (rule.allowed.empty()) return;
  std::vector<int> order;
  std::string used;
  for (const Loop& loop : loops.temporal) {
    if (loop.bound == 1) continue;
    order.push_back(loop.dim);
    used += (used.empty() ? "" : ", ") + dim_name(loop.dim);
  }
  std::string allowed;
  for (const OrderPattern& pattern : rule.allowed) {
    if (matches(order, pattern)) return;
    allowed += (allowed.empty() ? "" : " or ") + describe(pattern);
  }
  refuse(Rule::kOrder, level.name, {}, {}, 0, 0,
         "the loops at " + level.name + " run in order " + used + "; allowed: " + allowed);
}

bool Judge::matches(const std::vector<int>& order, const OrderPattern& pattern) const {
  std::size_t reached = 0;
  for (const int dim : order) {
    const auto named = std::find(pattern.dims.begin(), pattern.dims.end(), dim_name(dim));
    if (named == pattern.dims.end()) continue;
    const auto position = static_cast<std::size_t>(named - pattern.dims.begin());
    if (position < reached) return false;
    reached = position;
  }
  if (!pattern.stationary) return true;
  for (std::size_t x = 0; x < layer_.tensors.size(); ++x) {
    if (layer_.tensors[x].role != *pattern.stationary) continue;
    const DimSet coupled = layer_.coupled(static_cast<int>(x));
    bool uncoupled_outside = false;
    for (const int dim : order) {
      const bool moves = (coupled >> dim & 1) != 0;
      if (moves && uncoupled_outside) return false;
      uncoupled_outside |= !moves;
    }
  }
  return true;
}

// 6. Fanouts: units, array shape, parallel dims.
void Judge::check_fanout(std::size_t k) {
  const Level& level = accelerator_.levels[k];
  const auto& loops = mapping_.levels[k].spatial;
  Wide rows = 1, cols = 1;
  for (const SpatialLoop& loop : loops) {
    Wide& side = loop.side == Side::kRows ? rows : cols;
    side = times(side, loop.bound);
  }
  check_shape(level, rules(k).shape, rows, cols);
  check_wires(level, loops);
  check_parallel(level, rules(k).parallel, loops);
}

/// Copies that wires sum give one output; a dim that tells outputs apart would give them several.
void Judge::check_wires(const Level& level, const std::vector<SpatialLoop>& loops) {
  const auto output = static_cast<std::size_t>(layer_.output());
  for (const SpatialLoop& loop : loops) {
    if (loop.bound <= 1 || !level.fanout().sums_along(loop.side)) continue;
    for (const Rank& rank : layer_.tensors[output].ranks)
      if (std::ranges::any_of(rank.terms, [&](const pliant::Term& term) { return term.dim == loop.dim; })) {
        refuse(Rule::kParallel, level.name, layer_.tensors[output].name, dim_name(loop.dim),
               static_cast<double>(loop.bound), 1,
               "the " + std::string(word(loop.side)) + " of " + level.name + " sum; " + dim_name(loop.dim) +
                   ", which is an index of " + layer_.tensors[output].name + ", may not run over them");
        break;
      }
  }
}

void Judge::check_shape(const Level& level, const ShapeRule& rule, Wide rows, Wide cols) {
  const Fanout& fanout = level.fanout();
  const Wide units = times(fanout.rows, fanout.cols);
  if (rule.kind == ShapeRule::Kind::kFixed) {
    const std::array<std::pair<Wide, Count>, 2> sides{{{rows, fanout.rows}, {cols, fanout.cols}}};
    for (const Side side : {Side::kRows, Side::kCols}) {
      const auto& [needed, available] = sides[static_cast<std::size_t>(side)];
      if (needed > available)
        refuse(Rule::kFanout, level.name, {}, {}, number(needed), static_cast<double>(available),
               "the loops over " + std::string(word(side)) + " of " + level.name + " need " + text(needed) +
                   "; it has " + std::to_string(available));
    }
    return;
  }
  if (times(rows, cols) > units) {
    refuse(Rule::kFanout, level.name, {}, {}, number(times(rows, cols)), number(units),
           "the spatial loops need " + text(rows) + " x " + text(cols) + " units of " + level.name + "; it has " +
               text(units));
    return;
  }
  if (rule.kind != ShapeRule::Kind::kBlocks) return;
  // Shapes are (r, floor(units / r)) with r a whole number of block rows, at most as many as there are blocks.
  const Wide block = times(rule.block_rows, rule.block_cols);
  const Wide blocks = block > 0 ? units / block : 0;
  const Wide tall = (rows + rule.block_rows - 1) / rule.block_rows;
  if (tall > blocks) {
    refuse(Rule::kArrayShape, level.name, {}, {}, number(rows), number(blocks * rule.block_rows),
           "the loops over rows of " + level.name + " need " + text(rows) + "; its blocks make at most " +
               text(blocks * rule.block_rows) + " rows");
  } else if (cols > units / (tall * rule.block_rows)) {
    const Wide shape_rows = tall * rule.block_rows;
    refuse(Rule::kArrayShape, level.name, {}, {}, number(cols), number(units / shape_rows),
           "the spatial loops need " + text(rows) + " x " + text(cols) + " units of " + level.name +
               "; the nearest shape of its blocks is " + text(shape_rows) + " x " + text(units / shape_rows));
  }
}

void Judge::check_parallel(const Level& level, const ParallelRule& rule, const std::vector<SpatialLoop>& loops) {
  std::array<std::vector<std::string>, 2> used;
  for (const SpatialLoop& loop : loops)
    if (loop.bound > 1) used[static_cast<std::size_t>(loop.side)].push_back(dim_name(loop.dim));
  if (rule.max_dims_per_side > 0) {
    for (const Side side : {Side::kRows, Side::kCols}) {
      const std::size_t count = used[static_cast<std::size_t>(side)].size();
      if (count > static_cast<std::size_t>(rule.max_dims_per_side))
        refuse(Rule::kParallel, level.name, {}, {}, static_cast<double>(count), rule.max_dims_per_side,
               list(used[static_cast<std::size_t>(side)]) + " share the " + word(side) + " of " + level.name +
                   "; it takes " + std::to_string(rule.max_dims_per_side) + " per side");
    }
  }
  if (rule.assignments.empty()) return;
  // One assignment must explain all loops; the one that explains most is the one to talk about.
  const auto stranger = [&used](const Assignment& assignment, std::string& dim, Side& side) {
    std::size_t unexplained = 0;
    for (const Side s : {Side::kRows, Side::kCols})
      for (const std::string& name : used[static_cast<std::size_t>(s)])
        if (!contains(s == Side::kRows ? assignment.rows : assignment.cols, name) && unexplained++ == 0) {
          dim = name;
          side = s;
        }
    return unexplained;
  };
  std::string dim, allowed;
  Side side = Side::kRows;
  std::size_t fewest = SIZE_MAX;
  for (const Assignment& assignment : rule.assignments) {
    std::string candidate;
    Side candidate_side = Side::kRows;
    const std::size_t unexplained = stranger(assignment, candidate, candidate_side);
    if (unexplained == 0) return;
    if (unexplained < fewest) {
      fewest = unexplained;
      dim = candidate;
      side = candidate_side;
    }
    allowed += (allowed.empty() ? "" : "; ") + std::string("rows ") + list(assignment.rows) + ", columns " +
               list(assignment.cols);
  }
  refuse(Rule::kParallel, level.name, {}, dim, static_cast<double>(fewest), 0,
         dim + " may not run over the " + word(side) + " of " + level.name + "; allowed: " + allowed);
}

}  // namespace pliant::legality
