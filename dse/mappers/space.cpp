// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/space.h"

#include <algorithm>
#include <bit>

#include "core/affine.h"
#include "core/arithmetic.h"
#include "flex/mapspace/factors.h"

namespace pliant {

namespace {

DimSet resolve(const Layer& layer, const std::vector<std::string>& names) {
  DimSet set = 0;
  for (const std::string& name : names)
    if (const int d = layer.find_dim(name); d >= 0) set |= DimSet{1} << d;
  return set;
}

}  // namespace

Space::Space(const Task& task_in) : task(task_in), problem(task_in.layer, task_in.accelerator) {
  const Layer& layer = task.layer;
  const Accelerator& accelerator = task.accelerator;
  dims = problem.dims;
  levels = problem.levels;
  for (int d = 0; d < dims; ++d) slots[d] = slots_of(layer, accelerator, task.flexibility, d);
  const LevelFlexibility unrestricted;
  for (int l = 0; l < levels; ++l) {
    const LevelFlexibility& rules = static_cast<std::size_t>(l) < task.flexibility.levels.size()
                                        ? task.flexibility.levels[static_cast<std::size_t>(l)]
                                        : unrestricted;
    share_[l].fill(kInfinity);
    if (!problem.is_memory[l]) {
      fanouts.push_back(l);
      for (const Assignment& a : rules.parallel.assignments)
        assignments_[l].push_back({resolve(layer, a.rows), resolve(layer, a.cols)});
      dims_per_side_[l] = rules.parallel.max_dims_per_side;
      shape_[l] = rules.shape;
      continue;
    }
    memories.push_back(l);
    keep_sets[l] = keep_choices(layer, accelerator, l);
    limited_[l] = problem.capacity[l] < kInfinity;
    for (const TileRule::Tile& tile : rules.tile.fixed)
      if (const int d = layer.find_dim(tile.dim); d >= 0) fixed_tile_[l][d] = std::max<Count>(1, tile.size);
    if (rules.tile.partition && limited_[l]) {
      double sum = 0;
      for (const double share : *rules.tile.partition) sum += share;
      for (int r = 0; r < kRoles; ++r)
        share_[l][r] = (sum > 0 ? (*rules.tile.partition)[r] / sum : 0) * problem.capacity[l] * (1 + 1e-12);
    }
    resolve_orders(l, rules.order);
  }
}

void Space::resolve_orders(int level, const OrderRule& rule) {
  const Layer& layer = task.layer;
  for (const OrderPattern& pattern : rule.allowed) {
    Precedence before{};
    DimSet outside = 0;
    for (const std::string& name : pattern.dims) {
      const int d = layer.find_dim(name);
      if (d < 0 || (outside >> d & 1U) != 0) continue;
      before[d] |= outside;
      outside |= DimSet{1} << d;
    }
    if (pattern.stationary) {
      for (int x = 0; x < problem.tensors; ++x) {
        if (layer.tensors[static_cast<std::size_t>(x)].role != *pattern.stationary) continue;
        for (int d = 0; d < dims; ++d)
          if (!problem.is_coupled(x, d)) before[d] |= problem.coupled[x];
      }
    }
    order_rules_[level].push_back(before);
  }
}

Count Space::clipped_tile(Count fixed, Count size) const {
  fixed = std::min(fixed, size);
  if (task.factorization == Factorization::kRubyT || task.factorization == Factorization::kRuby) return fixed;
  const std::vector<Count> all = divisors(size);
  return *std::prev(std::upper_bound(all.begin(), all.end(), fixed));
}

Chain Space::make_chain(int dim, std::span<const Count> bounds) const {
  Chain chain;
  chain.bound.fill(1);
  chain.rows.fill(1);
  chain.cols.fill(1);
  const DimSlots& places = slots[dim];
  Count product = 1;
  for (std::size_t s = 0; s < bounds.size(); ++s) {
    const auto l = static_cast<std::size_t>(places.levels[s]);
    chain.bound[l] *= bounds[s];
    if (places.slots[s].spatial) (places.sides[s] == Side::kRows ? chain.rows : chain.cols)[l] = bounds[s];
    product *= bounds[s];
  }
  chain.size =
      task.factorization == Factorization::kPadding ? product : task.layer.dims[static_cast<std::size_t>(dim)].size;
  Count tile = 1;
  for (int l = levels - 1; l >= 0; --l) {
    tile = std::min(tile * chain.bound[l], chain.size);
    chain.tile[l] = tile;
  }
  return chain;
}

bool Space::tiles_allowed(int dim, const Chain& chain) const {
  for (const int l : memories)
    if (fixed_tile_[l][dim] > 0 && chain.tile[l] != clipped_tile(fixed_tile_[l][dim], chain.size)) return false;
  return true;
}

std::vector<Chain> Space::chains(int dim) const {
  std::vector<Chain> all;
  for_each_chain(task.layer.dims[static_cast<std::size_t>(dim)].size, slots[dim].slots, task.factorization,
                 [&](std::span<const Count> bounds) {
                   Chain chain = make_chain(dim, bounds);
                   if (tiles_allowed(dim, chain)) all.push_back(chain);
                   return true;
                 });
  return all;
}

bool Space::fanout_allowed(int level, Count rows, Count cols, DimSet row_dims, DimSet col_dims) const {
  const Fanout& fanout = task.accelerator.levels[static_cast<std::size_t>(level)].fanout();
  const ShapeRule& shape = shape_[level];
  switch (shape.kind) {
    case ShapeRule::Kind::kFixed:
      if (rows > fanout.rows || cols > fanout.cols) return false;
      break;
    case ShapeRule::Kind::kFree:
      if (rows * cols > fanout.units()) return false;
      break;
    case ShapeRule::Kind::kBlocks: {
      const Count blocks = fanout.units() / (shape.block_rows * shape.block_cols);
      const Count tall = (rows + shape.block_rows - 1) / shape.block_rows;
      if (tall > blocks || cols > fanout.units() / (tall * shape.block_rows)) return false;
      break;
    }
  }
  if (dims_per_side_[level] > 0 &&
      (std::popcount(row_dims) > dims_per_side_[level] || std::popcount(col_dims) > dims_per_side_[level]))
    return false;
  if (assignments_[level].empty()) return true;
  return std::any_of(assignments_[level].begin(), assignments_[level].end(), [&](const Sides& sides) {
    return (row_dims & ~sides.rows) == 0 && (col_dims & ~sides.cols) == 0;
  });
}

bool Space::fanouts_allowed(const Candidate& candidate, int first_free) const {
  for (const int l : fanouts) {
    Count rows = 1, cols = 1;
    DimSet row_dims = 0, col_dims = 0;
    for (int d = 0; d < first_free; ++d) {
      const Chain& chain = *candidate.chain[d];
      rows *= chain.rows[l];
      cols *= chain.cols[l];
      if (chain.rows[l] > 1) row_dims |= DimSet{1} << d;
      if (chain.cols[l] > 1) col_dims |= DimSet{1} << d;
    }
    if (!fanout_allowed(l, rows, cols, row_dims, col_dims)) return false;
  }
  return true;
}

double Space::footprint(int level, int tensor, const Candidate& candidate, int first_free) const {
  const bool distinct = problem.conventions.footprint == Conventions::Footprint::kDistinct;
  const auto tile = [&](int d) { return d < first_free ? candidate.chain[d]->tile[level] : 1; };
  double words = 1;
  for (DimSet plain = problem.simple[tensor]; plain != 0; plain &= plain - 1)
    words *= static_cast<double>(tile(std::countr_zero(plain)));
  for (const Problem::AffineRank& rank : problem.affine[tensor]) {
    if (rank.terms == 2 && distinct) {
      words *= static_cast<double>(
          distinct_values(rank.coefficient[0], tile(rank.dim[0]), rank.coefficient[1], tile(rank.dim[1])));
      continue;
    }
    std::array<Stride, kMaxDims> strides;
    for (int i = 0; i < rank.terms; ++i) strides[i] = {rank.coefficient[i], tile(rank.dim[i])};
    const std::span<const Stride> all(strides.data(), static_cast<std::size_t>(rank.terms));
    words *= static_cast<double>(distinct ? distinct_values(all) : bounding_extent(all));
  }
  return words;
}

bool Space::memory_allowed(int level, const Candidate& candidate, TensorSet keeps, int first_free) const {
  if (!limited_[level]) return true;
  double total = 0;
  std::array<double, kRoles> by_role{};
  for (int x = 0; x < problem.tensors; ++x) {
    if ((keeps >> x & 1U) == 0) continue;
    const double words = footprint(level, x, candidate, first_free);
    total += words;
    by_role[static_cast<std::size_t>(task.layer.tensors[static_cast<std::size_t>(x)].role)] += words;
  }
  if (total > problem.capacity[level]) return false;
  for (int r = 0; r < kRoles; ++r)
    if (by_role[r] > share_[level][r]) return false;
  return true;
}

bool Space::order_allowed(int level, std::span<const std::uint8_t> loops) const {
  if (order_rules_[level].empty()) return true;
  DimSet all = 0;
  for (const std::uint8_t d : loops) all |= DimSet{1} << d;
  return std::any_of(order_rules_[level].begin(), order_rules_[level].end(), [&](const Precedence& before) {
    DimSet placed = 0;
    for (const std::uint8_t d : loops) {
      if ((before[d] & all & ~placed) != 0) return false;
      placed |= DimSet{1} << d;
    }
    return true;
  });
}

std::vector<std::array<std::uint8_t, kMaxDims>> Space::orders(int level, DimSet loops) const {
  std::vector<std::array<std::uint8_t, kMaxDims>> all;
  std::array<std::uint8_t, kMaxDims> order{};
  const int count = std::popcount(loops);
  int last = count;
  for (int d = 0; d < dims; ++d)
    if ((loops >> d & 1U) == 0) order[last++] = static_cast<std::uint8_t>(d);
  // Outermost first; `open` are the patterns that what is placed so far respects.
  const auto place = [&](auto&& self, int n, DimSet placed, const std::vector<const Precedence*>& open) -> void {
    if (n == count) {
      all.push_back(order);
      return;
    }
    for (int d = 0; d < dims; ++d) {
      if (((loops & ~placed) >> d & 1U) == 0) continue;
      std::vector<const Precedence*> still;
      for (const Precedence* before : open)
        if (((*before)[d] & loops & ~placed) == 0) still.push_back(before);
      if (still.empty() && !order_rules_[level].empty()) continue;
      order[n] = static_cast<std::uint8_t>(d);
      self(self, n + 1, placed | DimSet{1} << d, still);
    }
  };
  std::vector<const Precedence*> patterns;
  for (const Precedence& before : order_rules_[level]) patterns.push_back(&before);
  place(place, 0, 0, patterns);
  return all;
}

DimSet Space::loops_at(int level, const Candidate& candidate) const {
  DimSet loops = 0;
  for (int d = 0; d < dims; ++d)
    if (candidate.chain[d]->bound[level] > 1) loops |= DimSet{1} << d;
  return loops;
}

bool Space::legal(const Candidate& candidate) const {
  for (int d = 0; d < dims; ++d)
    if (!tiles_allowed(d, *candidate.chain[d])) return false;
  if (!fanouts_allowed(candidate, dims)) return false;
  for (const int l : memories) {
    if (!memory_allowed(l, candidate, candidate.keeps[l], dims)) return false;
    std::array<std::uint8_t, kMaxDims> loops;
    std::size_t n = 0;
    for (int i = 0; i < dims; ++i)
      if (candidate.chain[candidate.order[l][i]]->bound[l] > 1) loops[n++] = candidate.order[l][i];
    if (!order_allowed(l, {loops.data(), n})) return false;
  }
  return true;
}

FlatMapping Space::flat(const Candidate& candidate) const {
  FlatMapping flat{};
  for (int l = 0; l < levels; ++l) {
    for (int d = 0; d < dims; ++d) flat.bound[l][d] = candidate.chain[d]->bound[l];
    flat.order[l] = candidate.order[l];
    flat.keeps[l] = candidate.keeps[l];
  }
  return flat;
}

Mapping Space::mapping(const Candidate& candidate) const {
  Mapping mapping = empty_mapping(task.layer, task.accelerator);
  for (const int l : memories) {
    LevelMapping& level = mapping.levels[static_cast<std::size_t>(l)];
    level.keeps = candidate.keeps[l];
    for (int i = 0; i < dims; ++i) {
      const int d = candidate.order[l][i];
      if (candidate.chain[d]->bound[l] > 1) level.temporal.push_back({d, candidate.chain[d]->bound[l]});
    }
  }
  for (const int l : fanouts) {
    LevelMapping& level = mapping.levels[static_cast<std::size_t>(l)];
    for (const Side side : {Side::kRows, Side::kCols})
      for (int d = 0; d < dims; ++d) {
        const Count bound = (side == Side::kRows ? candidate.chain[d]->rows : candidate.chain[d]->cols)[l];
        if (bound > 1) level.spatial.push_back({d, bound, side});
      }
  }
  if (task.factorization == Factorization::kPadding)
    for (int d = 0; d < dims; ++d) mapping.padded.push_back(candidate.chain[d]->size);
  return mapping;
}

Pricer::Pricer(const Space& space) : space_(space), nest_(space.problem), current_(&nest_) {}

Nest& Pricer::load(const Candidate& candidate) {
  current_ = &nest_;  // a pricer may have been moved since
  if (space_.task.factorization == Factorization::kPadding) {
    std::array<Count, kMaxDims> sizes{};
    for (int d = 0; d < space_.dims; ++d) sizes[static_cast<std::size_t>(d)] = candidate.chain[d]->size;
    std::unique_ptr<Padded>& padded = padded_[sizes];
    if (!padded) {
      Layer layer = space_.task.layer;
      for (std::size_t d = 0; d < layer.dims.size(); ++d) layer.dims[d].size = sizes[d];
      padded = std::make_unique<Padded>(layer, space_.task.accelerator, space_.problem.macs);
    }
    current_ = &padded->nest;
    useful_ = padded->useful;
  }
  current_->load(space_.flat(candidate));
  return *current_;
}

Totals Pricer::price() {
  Totals totals = current_->price();
  totals.utilization *= useful_;
  return totals;
}

bool better(double value_a, const Totals& a, double value_b, const Totals& b) {
  if (value_a != value_b) return value_a < value_b;
  if (a.energy_pj != b.energy_pj) return a.energy_pj < b.energy_pj;
  return a.cycles < b.cycles;
}

}  // namespace pliant
