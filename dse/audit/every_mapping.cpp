// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/every_mapping.h"

#include <algorithm>
#include <bit>
#include <span>

#include "core/arithmetic.h"

namespace pliant::audit {

namespace {

/// Layouts of one fanout that are looked at. Where loops in space divide, any of them fits if one does.
constexpr std::size_t kMostLayouts = 2'000;

}  // namespace

bool EveryMapping::visit(const Factors& unrolling, const Kept& kept, Limits& limits,
                         const std::function<void(const Mapping&)>& visit) {
  unrolling_ = &unrolling;
  kept_ = &kept;
  limits_ = &limits;
  visit_ = &visit;
  const std::size_t dims = task_.layer.dims.size();
  mapping_ = empty_mapping(task_.layer, task_.accelerator);
  PerDim tile, left{};
  tile.fill(1);
  for (std::size_t d = 0; d < dims; ++d) {
    size_[d] = task_.layer.dims[d].size;
    if (task_.factorization == Factorization::kPadding) {
      Count spread = 1;
      for (std::size_t f = d; f < unrolling.size(); f += dims) spread *= unrolling[f];
      if (spread > size_[d]) return true;  // no mapping
      size_[d] = ceil_div(size_[d], spread) * spread;
      mapping_.padded.push_back(size_[d]);
    }
    left[d] = size_[d];
  }
  for (std::size_t m = 0; m < kept.size(); ++m)
    mapping_.levels[static_cast<std::size_t>(rules_.memories[m].level)].keeps = kept[m];
  list_layouts(unrolling);
  for (const std::vector<Layout>& of_fanout : layouts_)
    if (rules_.rounds(true) && of_fanout.size() == kMostLayouts) return false;
  return outwards(static_cast<int>(task_.accelerator.levels.size()) - 1, tile, left);
}

void EveryMapping::list_layouts(const Factors& unrolling) {
  const std::size_t dims = task_.layer.dims.size();
  layouts_.assign(rules_.fanouts.size(), {});
  for (std::size_t f = 0; f < rules_.fanouts.size(); ++f) {
    Layout loops;
    place_layout(f, std::span(unrolling).subspan(f * dims, dims), 0, loops, {1, 1}, {0, 0});
  }
}

void EveryMapping::place_layout(std::size_t fanout, std::span<const Count> factors, std::size_t dim, Layout& loops,
                                std::array<Count, 2> used, std::array<DimSet, 2> dims) {
  const FanoutRules& rules = rules_.fanouts[fanout];
  if (!rules.holds(used[0], used[1]) || !rules.assigns(dims[0], dims[1]) || layouts_[fanout].size() == kMostLayouts)
    return;
  if (dim == factors.size()) {
    layouts_[fanout].push_back(loops);
    return;
  }
  for (const Count rows : divisors_of(factors[dim])) {
    const std::size_t before = loops.size();
    auto used_then = used;
    auto dims_then = dims;
    for (const auto& [side, bound] : {std::pair{Side::kRows, rows}, std::pair{Side::kCols, factors[dim] / rows}}) {
      const auto s = static_cast<std::size_t>(side);
      used_then[s] *= bound;
      if (bound == 1) continue;
      dims_then[s] |= DimSet{1} << dim;
      loops.push_back({static_cast<int>(dim), bound, side});
    }
    place_layout(fanout, factors, dim + 1, loops, used_then, dims_then);
    loops.resize(before);
  }
}

/// Whether what is left of a dim beyond a level can be covered by the fanouts further out, if no loop in time can.
bool EveryMapping::may_end(int level, std::size_t dim, Count left) const {
  Count spread = 1;
  for (std::size_t f = 0; f < rules_.fanouts.size(); ++f)
    if (rules_.fanouts[f].level < level) spread *= (*unrolling_)[f * task_.layer.dims.size() + dim];
  for (const MemoryRules& memory : rules_.memories)
    if (memory.level < level && (memory.may_loop >> dim & 1U) != 0) return true;
  return rules_.rounds(true) ? left <= spread : left == spread;
}

/// Whether a tile of a dim is what its memory holds, and no more than a memory further out does: tiles only grow.
bool EveryMapping::may_hold(int level, std::size_t dim, Count tile) const {
  return std::ranges::all_of(rules_.memories, [&](const MemoryRules& memory) {
    const Count fixed = memory.level > level ? 0 : rules_.fixed_tile(memory, static_cast<int>(dim), size_[dim]);
    return fixed == 0 || (memory.level == level ? tile == fixed : tile <= fixed);
  });
}

/// Goes through the levels from a level outwards: `tile` lies inside it, `left` is left of each dim.
bool EveryMapping::outwards(int level, PerDim tile, PerDim left) {
  if (limits_->steps == 0) return false;
  --limits_->steps;
  const std::size_t dims = task_.layer.dims.size();
  if (level < 0) {
    if (!std::all_of(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(dims), [](Count n) { return n == 1; }))
      return true;
    if (limits_->mappings == 0) return false;
    --limits_->mappings;
    (*visit_)(mapping_);
    return true;
  }
  if (task_.accelerator.levels[static_cast<std::size_t>(level)].is_compute()) return outwards(level - 1, tile, left);
  const auto fanout = std::ranges::find(rules_.fanouts, level, &FanoutRules::level);
  if (fanout == rules_.fanouts.end()) {
    PerDim bounds;
    bounds.fill(1);
    const auto memory = std::ranges::find(rules_.memories, level, &MemoryRules::level) - rules_.memories.begin();
    return choose_loops(level, static_cast<std::size_t>(memory), 0, bounds, tile, left);
  }
  const auto f = static_cast<std::size_t>(fanout - rules_.fanouts.begin());
  const bool rounds = rules_.rounds(true);
  // Columns lie inside rows; no loop runs over more than is left, and those that must divide do.
  for (const Layout& layout : layouts_[f]) {
    PerDim then = left;
    bool fits = true;
    for (const Side side : {Side::kCols, Side::kRows})
      for (const SpatialLoop& loop : layout) {
        if (loop.side != side) continue;
        Count& n = then[static_cast<std::size_t>(loop.dim)];
        fits &= loop.bound <= n && (rounds || n % loop.bound == 0);
        n = ceil_div(n, loop.bound);
      }
    if (!fits) continue;
    for (const SpatialLoop& loop : layout) {
      const auto d = static_cast<std::size_t>(loop.dim);
      tile[d] = std::min(size_[d], tile[d] * loop.bound);
    }
    mapping_.levels[static_cast<std::size_t>(level)].spatial = layout;
    return outwards(level - 1, tile, then);
  }
  return true;
}

bool EveryMapping::choose_loops(int level, std::size_t memory, std::size_t dim, PerDim& bounds, const PerDim& tile,
                                const PerDim& left) {
  const MemoryRules& rules = rules_.memories[memory];
  if (dim == task_.layer.dims.size()) return order_loops(level, memory, bounds, tile, left);
  const auto take = [&](Count bound) {
    const bool fits = may_hold(level, dim, std::min(size_[dim], tile[dim] * bound)) &&
                      may_end(level, dim, ceil_div(left[dim], bound));
    bounds[dim] = bound;
    const bool go_on = !fits || choose_loops(level, memory, dim + 1, bounds, tile, left);
    bounds[dim] = 1;
    return go_on;
  };
  if ((rules.may_loop >> dim & 1U) == 0) return take(1);
  if (rules_.rounds(false)) {
    for (Count bound = 1; bound <= left[dim]; ++bound)
      if (!take(bound)) return false;
    return true;
  }
  auto [divisors, fresh] = divisors_.try_emplace(left[dim]);
  if (fresh) divisors->second = divisors_of(left[dim]);
  return std::ranges::all_of(divisors->second, take);
}

bool EveryMapping::order_loops(int level, std::size_t memory, const PerDim& bounds, const PerDim& tile,
                               const PerDim& left) {
  if (limits_->steps == 0) return false;
  --limits_->steps;
  const MemoryRules& rules = rules_.memories[memory];
  PerDim grown = tile, then = left;
  DimSet loops = 0;
  for (std::size_t d = 0; d < task_.layer.dims.size(); ++d) {
    grown[d] = std::min(size_[d], tile[d] * bounds[d]);
    then[d] = ceil_div(left[d], bounds[d]);
    if (bounds[d] > 1) loops |= DimSet{1} << d;
  }
  if (!rules.holds((*kept_)[memory], rules_.elements, grown)) return true;
  // From the outside in, loop by loop: what begins an allowed order is itself allowed.
  std::vector<int> order;
  const auto place = [&](const auto& self, DimSet rest) -> bool {
    if (rest == 0) {
      std::vector<Loop> placed;
      for (const int d : order) placed.push_back({d, bounds[static_cast<std::size_t>(d)]});
      mapping_.levels[static_cast<std::size_t>(level)].temporal = std::move(placed);
      return outwards(level - 1, grown, then);
    }
    for (DimSet others = rest; others != 0; others &= others - 1) {
      order.push_back(std::countr_zero(others));
      if (rules.allows(order) && !self(self, rest & ~(others & -others))) return false;
      order.pop_back();
    }
    return true;
  };
  return place(place, loops);
}

}  // namespace pliant::audit
