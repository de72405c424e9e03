// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/space_rules.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "core/arithmetic.h"
#include "dse/audit/lower_bound.h"

namespace pliant::audit {

namespace {

std::vector<Count> largest_sizes(const Layer& layer, Factorization factorization) {
  std::vector<Count> sizes;
  // A padded dim has less than twice its iterations.
  for (const Dim& dim : layer.dims) sizes.push_back(factorization == Factorization::kPadding ? 2 * dim.size : dim.size);
  return sizes;
}

int dim_called(const Layer& layer, const std::string& name) {
  const auto found = std::ranges::find(layer.dims, name, &Dim::name);
  return found == layer.dims.end() ? -1 : static_cast<int>(found - layer.dims.begin());
}

DimSet dims_called(const Layer& layer, const std::vector<std::string>& names) {
  DimSet dims = 0;
  for (const std::string& name : names)
    if (const int d = dim_called(layer, name); d >= 0) dims |= DimSet{1} << d;
  return dims;
}

DimSet dims_in(const Tensor& tensor) {
  DimSet dims = 0;
  for (const Rank& rank : tensor.ranks)
    for (const Term& term : rank.terms) dims |= DimSet{1} << term.dim;
  return dims;
}

AllowedOrder order_of(const Layer& layer, const OrderPattern& written) {
  AllowedOrder order;
  for (const std::string& name : written.dims) {
    const int d = dim_called(layer, name);
    if (d >= 0 && std::ranges::find(order.sequence, d) == order.sequence.end()) order.sequence.push_back(d);
  }
  for (const Tensor& tensor : layer.tensors)
    if (written.stationary && tensor.role == *written.stationary) order.outside.push_back(dims_in(tensor));
  return order;
}

void say_room(const Memory& memory, const TileRule& written, MemoryRules& rules) {
  rules.burst_bits = written.burst > 1 ? static_cast<double>(written.burst) * memory.word_bits : 0;
  if (!memory.capacity_words) return;
  rules.limited = true;
  Count taken = 0;
  for (const Count words : memory.reserved_words) taken += words;
  const int buffers = std::max(1, memory.buffers);
  rules.capacity_bits =
      taken > *memory.capacity_words
          ? -1
          : static_cast<double>((*memory.capacity_words - taken) / buffers) * static_cast<double>(memory.word_bits);
  if (!written.partition) return;
  rules.divided = true;
  double shares = 0;
  for (const double share : *written.partition) shares += share;
  for (std::size_t r = 0; r < kRoles; ++r) {
    const double share = shares > 0 ? (*written.partition)[r] / shares : 0;
    rules.share_bits[r] = (share * static_cast<double>(*memory.capacity_words / buffers) -
                           static_cast<double>(memory.reserved_words[r]) / buffers) *
                          memory.word_bits;
  }
}

/// The outermost memory that may hold a tensor does; others may leave it out where they say so.
void say_keeps(const Layer& layer, const Accelerator& accelerator, MemoryRules& rules) {
  const Memory& memory = accelerator.levels[static_cast<std::size_t>(rules.level)].memory();
  rules.keeps = {0};
  for (std::size_t x = 0; x < layer.tensors.size(); ++x) {
    const auto role = rules.role[x] = static_cast<std::size_t>(layer.tensors[x].role);
    if (memory.resident[role]) rules.living |= TensorSet{1} << x;
    if (!memory.may_keep[role]) continue;
    bool outermost = true;
    for (int l = 0; l < rules.level; ++l) {
      const Level& level = accelerator.levels[static_cast<std::size_t>(l)];
      outermost &= !(level.is_memory() && level.memory().may_keep[role]);
    }
    std::vector<TensorSet> with;
    for (const TensorSet set : rules.keeps) with.push_back(set | TensorSet{1} << x);
    if (outermost || !memory.may_bypass[role])
      rules.keeps = std::move(with);
    else
      rules.keeps.insert(rules.keeps.end(), with.begin(), with.end());
  }
}

FanoutRules fanout_rules_of(const Layer& layer, const Fanout& array, const LevelFlexibility& written, int level) {
  FanoutRules rules;
  rules.level = level;
  rules.array = array;
  rules.shape = written.shape;
  if (written.parallel.max_dims_per_side > 0)
    rules.most_dims = static_cast<std::size_t>(written.parallel.max_dims_per_side);
  for (const Assignment& one : written.parallel.assignments)
    rules.assignments.push_back({dims_called(layer, one.rows), dims_called(layer, one.cols)});
  const DimSet all = (DimSet{1} << layer.dims.size()) - 1;
  if (written.parallel.assignments.empty()) rules.assignments.push_back({all, all});
  // Where wires sum, copies must work on the same results.
  for (const Tensor& tensor : layer.tensors)
    for (const Side side : {Side::kRows, Side::kCols})
      if (tensor.role == Role::kOutput && array.sums_along(side))
        for (auto& sides : rules.assignments) sides[static_cast<std::size_t>(side)] &= ~dims_in(tensor);
  return rules;
}

}  // namespace

std::vector<Count> divisors_of(Count n) {
  std::vector<Count> below, above;
  for (Count d = 1; d <= n / d; ++d) {
    if (n % d != 0) continue;
    below.push_back(d);
    if (d != n / d) above.push_back(n / d);
  }
  below.insert(below.end(), above.rbegin(), above.rend());
  return below;
}

bool AllowedOrder::allows(std::span<const int> loops) const {
  auto next = sequence.begin();
  for (const int d : loops) {
    const auto named = std::ranges::find(sequence, d);
    if (named == sequence.end()) continue;
    if (named < next) return false;
    next = named;
  }
  for (const DimSet set : outside) {
    bool inside = false;
    for (const int d : loops) {
      const bool member = (set >> d & 1U) != 0;
      if (member && inside) return false;
      inside |= !member;
    }
  }
  return true;
}

bool MemoryRules::allows(std::span<const int> loops) const {
  return orders.empty() || std::ranges::any_of(orders, [&](const AllowedOrder& order) { return order.allows(loops); });
}

bool MemoryRules::holds(TensorSet kept, const TileElements& elements,
                        const std::array<Count, kMaxDims>& tile_sizes) const {
  if (holds_everything()) return true;
  double all = 0;
  std::array<double, kRoles> by_role{};
  kept &= ~living;
  for (std::size_t x = 0; kept >> x != 0; ++x) {
    if ((kept >> x & 1U) == 0) continue;
    const TileElements::Elements count = elements.of(static_cast<int>(x), tile_sizes);
    const double bits = count.fewest * element[x];
    if (burst_bits > 0 && count.exactly && std::fmod(bits, burst_bits) != 0) return false;
    all += bits;
    by_role[role[x]] += bits;
  }
  if (!limited) return true;
  if (all > capacity_bits) return false;
  // Shares such as a third are not exact; bits are whole.
  for (std::size_t r = 0; r < kRoles && divided; ++r)
    if (by_role[r] > share_bits[r] * (1 + kRounding)) return false;
  return true;
}

/// The units may be arranged anew: in rows of whole blocks, at most as many as there are blocks, or in any number.
bool FanoutRules::holds(Count rows, Count cols) const {
  const Count units = array.rows * array.cols;
  switch (shape.kind) {
    case ShapeRule::Kind::kFixed: return rows <= array.rows && cols <= array.cols;
    case ShapeRule::Kind::kFree: return cols <= units / rows;
    case ShapeRule::Kind::kBlocks: {
      const Count high = ceil_div(rows, shape.block_rows);
      return high <= units / (shape.block_rows * shape.block_cols) && cols <= units / (high * shape.block_rows);
    }
  }
  return false;
}

bool FanoutRules::assigns(DimSet over_rows, DimSet over_cols) const {
  if (static_cast<std::size_t>(std::popcount(over_rows)) > most_dims ||
      static_cast<std::size_t>(std::popcount(over_cols)) > most_dims)
    return false;
  return std::ranges::any_of(
      assignments, [&](const auto& sides) { return (over_rows & ~sides[0]) == 0 && (over_cols & ~sides[1]) == 0; });
}

bool FanoutRules::may_run(int dim, Side side) const {
  return std::ranges::any_of(
      assignments, [&](const auto& sides) { return (sides[static_cast<std::size_t>(side)] >> dim & 1U) != 0; });
}

bool SpaceRules::rounds(bool in_space) const {
  return factorization == Factorization::kRuby ||
         factorization == (in_space ? Factorization::kRubyS : Factorization::kRubyT);
}

Count SpaceRules::fixed_tile(const MemoryRules& memory, int dim, Count whole) const {
  Count tile = std::min(memory.fixed[static_cast<std::size_t>(dim)], whole);
  while (tile > 0 && !rounds(false) && whole % tile != 0) --tile;
  return tile;
}

SpaceRules::SpaceRules(const Layer& of_layer, const Accelerator& accelerator, const Flexibility& flexibility,
                       Factorization by)
    : layer(of_layer),
      factorization(by),
      elements(of_layer, accelerator.conventions.footprint, largest_sizes(of_layer, by)) {
  const LevelFlexibility free;
  const Widths widths(layer, accelerator);
  for (std::size_t l = 0; l < accelerator.levels.size(); ++l) {
    const Level& level = accelerator.levels[l];
    const LevelFlexibility& written = l < flexibility.levels.size() ? flexibility.levels[l] : free;
    if (level.is_fanout()) fanouts.push_back(fanout_rules_of(layer, level.fanout(), written, static_cast<int>(l)));
    if (!level.is_memory()) continue;
    MemoryRules& rules = memories.emplace_back();
    rules.level = static_cast<int>(l);
    say_keeps(layer, accelerator, rules);
    say_room(level.memory(), written.tile, rules);
    for (std::size_t x = 0; x < layer.tensors.size(); ++x)
      rules.element[x] = widths.held(rules.level, static_cast<int>(x));
    for (std::size_t d = 0; d < layer.dims.size(); ++d)
      if (layer.dims[d].size > 1) rules.may_loop |= DimSet{1} << d;
    if (written.loops.dims) rules.may_loop &= dims_called(layer, *written.loops.dims);
    for (const OrderPattern& pattern : written.order.allowed) rules.orders.push_back(order_of(layer, pattern));
    for (const TileRule::Tile& tile : written.tile.fixed)
      if (const int d = dim_called(layer, tile.dim); d >= 0) {
        rules.has_fixed_tile = true;
        rules.fixed[static_cast<std::size_t>(d)] = std::max<Count>(1, tile.size);
      }
  }
}

}  // namespace pliant::audit
