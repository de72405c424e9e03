// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/nested_tiles.h"

#include <algorithm>
#include <limits>

#include "core/arithmetic.h"
#include "costmodel/bits.h"

namespace pliant::audit {

namespace {

std::vector<std::vector<DimSet>> order_sets(const MemoryRules& rules) {
  const DimSet may_loop = rules.may_loop;
  if (rules.orders.empty()) return {{may_loop}};
  std::vector<std::vector<DimSet>> alternatives;
  for (const AllowedOrder& pattern : rules.orders) {
    std::vector<DimSet>& sets = alternatives.emplace_back();
    if (!pattern.outside.empty()) {
      // Loops that do not move a stationary tensor are inside those that do. Of several tensors one is enough here.
      const DimSet coupled = pattern.outside.front();
      sets = {may_loop & ~coupled, may_loop & coupled};
      continue;
    }
    DimSet named = 0;
    for (const int d : pattern.sequence) named |= DimSet{1} << d;
    // One named dim after the other, the innermost first; those not named stand anywhere.
    for (auto d = pattern.sequence.rbegin(); d != pattern.sequence.rend(); ++d)
      sets.push_back(((DimSet{1} << *d) | ~named) & may_loop);
    if (sets.empty()) sets.push_back(may_loop);
  }
  return alternatives;
}

}  // namespace

TileRules::TileRules(const SpaceRules& rules, const Problem& problem) : space(rules) {
  const bool within = problem.conventions.stationarity == Conventions::Stationarity::kWithinLevel;
  for (std::size_t m = rules.memories.size(); m-- > 0;) {
    const MemoryRules& memory = rules.memories[m];
    memories.push_back(m);
    orders.push_back(order_sets(memory));
    DimSet& moves = movable.emplace_back(0);
    for (int d = 0; d < problem.dims && !within; ++d) {
      // The loop may have to pass memories without loops on its way out, and their tiles shrink with it.
      bool slides = true;
      for (std::size_t outside = 0; outside <= m; ++outside) slides &= rules.memories[outside].allows_smaller(d);
      for (int x = 0; x < problem.tensors; ++x)
        if (problem.affine_dims[x] >> d & 1U) slides &= (problem.sliding[x] >> d & 1U) != 0;
      if (slides) moves |= DimSet{1} << d;
    }
  }
}

double NestedTiles::nodes(const ChoiceTransfers& transfers) {
  double nodes = 1;
  for (int d = 0; d < transfers.problem().dims; ++d)
    nodes *= static_cast<double>(divisors_of(transfers.left(d)).size());
  return nodes;
}

NestedTiles::NestedTiles(const TileRules& rules, const Measures& measures, const ChoiceTransfers& transfers,
                         const Kept& kept)
    : rules_(rules), measures_(measures), transfers_(transfers), p_(transfers.problem()), kept_(kept) {
  within_ = p_.conventions.stationarity == Conventions::Stationarity::kWithinLevel;
  displaced_ = p_.conventions.halo == Conventions::Halo::kDisplacement ||
               p_.conventions.halo == Conventions::Halo::kTwoIterations;
  for (int d = 0; d < p_.dims; ++d) {
    divisors_.push_back(divisors_of(transfers_.left(d)));
    std::vector<Count>& primes = primes_.emplace_back();
    for (const Count n : divisors_.back())
      if (n > 1 && std::ranges::none_of(primes, [&](Count prime) { return n % prime == 0; })) primes.push_back(n);
    stride_.push_back(nodes_);
    nodes_ *= static_cast<std::uint32_t>(divisors_.back().size());
  }
  // Calls visit(first, last, i) for all nodes [first, last) next to each other that have the i-th tile along a dim.
  const auto along = [&](int d, const auto& visit) {
    const auto count = static_cast<std::uint32_t>(divisors_[d].size());
    for (std::uint32_t first = 0; first < nodes_;)
      for (std::uint32_t i = 0; i < count; ++i, first += stride_[d]) visit(first, first + stride_[d], i);
  };
  for (int x = 0; x < p_.tensors; ++x) {
    auto& repeats = repeats_.emplace_back(nodes_, 1.0);
    auto& affine = affine_node_.emplace_back(nodes_, 0U);
    auto& tiles = affine_tiles_.emplace_back();
    std::uint32_t affine_stride = 1;
    tiles.emplace_back().fill(1);
    for (int d = 0; d < p_.dims; ++d) {
      if (!p_.is_coupled(x, d))
        along(d, [&](std::uint32_t first, std::uint32_t last, std::uint32_t i) {
          const auto left = static_cast<double>(divisors_[d].back() / divisors_[d][i]);
          for (std::uint32_t n = first; n < last; ++n) repeats[n] *= left;
        });
      if (!(p_.affine_dims[x] >> d & 1U)) continue;
      const auto count = static_cast<std::uint32_t>(divisors_[d].size());
      along(d, [&](std::uint32_t first, std::uint32_t last, std::uint32_t i) {
        for (std::uint32_t n = first; n < last; ++n) affine[n] += affine_stride * i;
      });
      const std::vector<std::array<Count, kMaxDims>> before = tiles;
      tiles.clear();
      for (const Count tile : divisors_[d])
        for (std::array<Count, kMaxDims> longer : before) {
          longer[d] = tile;
          tiles.push_back(longer);
        }
      affine_stride *= count;
    }
  }
  for (std::size_t k = 0; k < rules_.memories.size(); ++k) find_fitting(k);
  // Tiles grow outwards, and so do their numbers: beyond the last that fits here or further out nothing is of use.
  reach_.assign(rules_.memories.size(), nodes_);
  for (std::size_t k = rules_.memories.size(); k-- > 0;) {
    std::uint32_t& reach = reach_[k] = k + 1 < reach_.size() ? reach_[k + 1] : nodes_;
    while (reach > 0 && !fits_[k][reach - 1]) --reach;
  }
}

/// Nodes whose tiles a memory can hold, one after the other: the first dim's tile changes most often.
void NestedTiles::find_fitting(std::size_t k) {
  const MemoryRules& memory = rules_.space.memories[rules_.memories[k]];
  const TensorSet kept = kept_[rules_.memories[k]];
  auto& fits = fits_.emplace_back(nodes_, char{1});
  if (memory.holds_everything() && !memory.has_fixed_tile) return;
  std::array<Count, kMaxDims> tiles{}, fixed{}, inside{};
  for (int d = 0; d < p_.dims; ++d) {
    tiles[d] = inside[d] = transfers_.inside(memory.level, d);
    fixed[d] = rules_.space.fixed_tile(memory, d, p_.layer.dims[d].size);
  }
  std::array<std::size_t, kMaxDims> at{};
  for (std::uint32_t n = 0; n < nodes_; ++n) {
    bool holds = true;
    for (int d = 0; d < p_.dims; ++d) holds &= fixed[d] == 0 || tiles[d] == fixed[d];
    fits[n] = holds && memory.holds(kept, rules_.space.elements, tiles) ? 1 : 0;
    for (int d = 0; d < p_.dims; ++d) {
      at[d] = at[d] + 1 == divisors_[d].size() ? 0 : at[d] + 1;
      tiles[d] = divisors_[d][at[d]] * inside[d];
      if (at[d] > 0) break;
    }
  }
}

int NestedTiles::keeper_number(int x, std::size_t k) const {
  int number = 0;
  for (std::size_t m = 0; m <= k; ++m) number += keeps(x, m) ? 1 : 0;
  return number;
}

/// The outermost transfer that may wait in the loops of a memory: its child is the next keeper inside.
int NestedTiles::last_waiting(int x, std::size_t k) const {
  const int inside = k == 0 ? 0 : keeper_number(x, k - 1);
  return std::min(inside, static_cast<int>(transfers_.of(x).size()) - 1);
}

void NestedTiles::weigh(const std::vector<double>& weights) {
  per_served_.clear();
  per_delivered_.clear();
  known_costs_.clear();
  constant_ = 0;
  const auto weighed = [&](const std::vector<double>& by_measure) {
    double sum = 0;
    for (std::size_t m = 0; m < weights.size(); ++m) sum += weights[m] * by_measure[m];
    return sum;
  };
  for (int x = 0; x < p_.tensors; ++x) {
    auto& served = per_served_.emplace_back();
    auto& delivered = per_delivered_.emplace_back();
    for (const Transfer& transfer : transfers_.of(x)) {
      served.push_back(weighed(transfer.served));
      delivered.push_back(weighed(transfer.delivered));
      constant_ += weighed(transfer.constant);
    }
    constant_ += served.front() * transfers_.of(x).front().least_served;  // towards the compute units
  }
}

double NestedTiles::window_cost(int x, int since, std::size_t k, const std::array<Count, kMaxDims>& tile, int dim,
                                Count bound) const {
  double cost = 0;
  for (int t = since; t <= last_waiting(x, k); ++t) {
    const Transfer& transfer = transfers_.of(x)[static_cast<std::size_t>(t)];
    const ChoiceTransfers::Windows words = transfers_.windows(transfer, tile, level(k), dim, bound);
    cost += per_served_[x][t] * transfer.served_words * words.served +
            per_delivered_[x][t] * transfer.delivered_words * words.delivered;
  }
  return cost;
}

const std::vector<double>& NestedTiles::window_costs(int x, int since, std::size_t k, int dim) {
  auto [entry, fresh] = known_costs_.try_emplace({x, since, static_cast<int>(k), dim});
  std::vector<double>& costs = entry->second;
  if (!fresh) return costs;
  const auto& tiles = affine_tiles_[static_cast<std::size_t>(x)];
  if (dim < 0) {
    for (const auto& tile : tiles) costs.push_back(window_cost(x, since, k, tile, -1, 1));
    return costs;
  }
  // By the tile before the loop and the index of the tile after it.
  const std::vector<Count>& sizes = divisors_[dim];
  costs.assign(tiles.size() * sizes.size(), kInfinity);
  const bool goes_on = p_.conventions.halo == Conventions::Halo::kRun && !(rules_.movable[k] >> dim & 1U);
  for (std::size_t n = 0; n < tiles.size(); ++n) {
    double* const row = &costs[n * sizes.size()];
    for (std::size_t to = 0; to < sizes.size(); ++to)
      if (sizes[to] > tiles[n][dim] && sizes[to] % tiles[n][dim] == 0)
        row[to] = window_cost(x, since, k, tiles[n], dim, sizes[to] / tiles[n][dim]);
    for (std::size_t to = 0; goes_on && to < sizes.size(); ++to)
      for (std::size_t further = to + 1; further < sizes.size(); ++further)
        if (sizes[further] % sizes[to] == 0 && row[to] < kInfinity) row[to] = std::min(row[to], row[further]);
  }
  return costs;
}

void NestedTiles::charge(Table& table, int x, int since, std::size_t k) {
  const std::vector<double>& repeats = repeats_[x];
  if (p_.affine_dims[x] == 0) {
    const double cost = window_cost(x, since, k, affine_tiles_[x].front(), -1, 1);
    for (std::size_t n = 0; n < table.cost.size(); ++n) table.cost[n] += cost * repeats[n];
    return;
  }
  if (displaced_) {
    double cost = 0;
    for (int t = since; t <= last_waiting(x, k); ++t) {
      const Transfer& transfer = transfers_.of(x)[static_cast<std::size_t>(t)];
      cost += per_served_[x][t] * transfer.least_served + per_delivered_[x][t] * transfer.least_delivered;
    }
    for (double& value : table.cost) value += cost;
    return;
  }
  const std::vector<double>& costs = window_costs(x, since, k, -1);
  const std::vector<std::uint32_t>& affine = affine_node_[x];
  for (std::size_t n = 0; n < table.cost.size(); ++n) table.cost[n] += costs[affine[n]] * repeats[n];
}

/// Each of so many nodes from `to` on is no higher than the one beside it in the other table.
void NestedTiles::Table::lower(std::uint32_t to, const Table& other, std::uint32_t from, std::uint32_t count) {
  double* const own = cost.data() + to;
  const double* const beside = other.cost.data() + from;
  if (record.empty()) {
    for (std::uint32_t n = 0; n < count; ++n) own[n] = std::min(own[n], beside[n]);
    return;
  }
  for (std::uint32_t n = 0; n < count; ++n) {
    if (!(beside[n] < own[n])) continue;
    own[n] = beside[n];
    record[to + n] = other.record[from + n];
  }
}

void NestedTiles::note(Table& table, Record::Way way) {
  if (!traced_) return;
  for (std::uint32_t n = 0; n < table.cost.size(); ++n) {
    if (table.cost[n] == kInfinity) continue;
    records_.push_back({way, table.record[n], n});
    table.record[n] = static_cast<std::uint32_t>(records_.size() - 1);
  }
}

void NestedTiles::merge(Tables& tables, const Waiting& waiting, Table&& table) const {
  auto [entry, fresh] = tables.try_emplace(waiting, std::move(table));
  if (fresh) return;
  entry->second.lower(0, table, 0, static_cast<std::uint32_t>(table.cost.size()));
}

/// The least over all smaller tiles along a dim.
void NestedTiles::close_along(Table& table, int dim) const {
  const std::vector<Count>& sizes = divisors_[dim];
  const std::uint32_t stride = stride_[dim], block = stride * static_cast<std::uint32_t>(sizes.size());
  const auto reach = static_cast<std::uint32_t>(table.cost.size());
  for (const Count prime : primes_[dim])
    for (std::uint32_t to = 1; to < sizes.size(); ++to) {
      if (sizes[to] % prime != 0) continue;
      const auto from = static_cast<std::uint32_t>(std::ranges::lower_bound(sizes, sizes[to] / prime) - sizes.begin());
      for (std::uint32_t first = 0; first + to * stride < reach; first += block)
        table.lower(first + to * stride, table, first + from * stride, std::min(stride, reach - (first + to * stride)));
    }
}

/// A sliding loop: what it costs depends on the tile before it and on its bound.
void NestedTiles::slide(Table& table, const Waiting& waiting, const std::vector<int>& sliding, int dim, std::size_t k) {
  const auto reach = static_cast<std::uint32_t>(table.cost.size());
  Table moved{std::vector<double>(reach, kInfinity), table.record};
  const std::vector<Count>& sizes = divisors_[dim];
  const auto count = static_cast<std::uint32_t>(sizes.size());
  const std::uint32_t stride = stride_[dim];
  std::vector<const std::vector<double>*> costs;
  for (const int x : sliding) costs.push_back(&window_costs(x, waiting[x], k, dim));
  std::vector<std::vector<std::uint32_t>> multiples(count);
  for (std::uint32_t i = 0; i < count; ++i)
    for (std::uint32_t j = i + 1; j < count; ++j)
      if (sizes[j] % sizes[i] == 0) multiples[i].push_back(j);
  for (std::uint32_t from = 0; from < reach; ++from) {
    if (table.cost[from] == kInfinity) continue;
    const std::uint32_t i = from / stride % count;
    for (const std::uint32_t j : multiples[i]) {
      const std::uint32_t to = from + (j - i) * stride;
      if (to >= reach) break;
      double cost = table.cost[from];
      for (std::size_t s = 0; s < sliding.size(); ++s)
        cost += (*costs[s])[affine_node_[sliding[s]][from] * count + j] * repeats_[sliding[s]][from];
      if (!(cost < moved.cost[to])) continue;
      moved.cost[to] = cost;
      if (traced_) moved.record[to] = table.record[from];
    }
  }
  table = std::move(moved);
}

/// A loop over a dim ends the runs of all waiting tensors that use it.
void NestedTiles::pass_moving_loop(const Waiting& waiting, const Table& from, Tables& tables, int dim, std::size_t k) {
  Waiting after = waiting;
  Table table = from;
  note(table, Record::Way::kLoops);
  std::vector<int> sliding;
  for (int x = 0; x < p_.tensors; ++x) {
    if (waiting[x] == 0 || !p_.is_coupled(x, dim)) continue;
    after[x] = 0;
    if ((p_.sliding[x] >> dim & 1U) != 0 && !displaced_)
      sliding.push_back(x);
    else
      charge(table, x, waiting[x], k);
  }
  if (sliding.empty())
    close_along(table, dim);
  else
    slide(table, waiting, sliding, dim, k);
  note(table, Record::Way::kOneLoop);
  merge(tables, after, std::move(table));
}

/// All loops over these dims, in any order: states in which more tensors wait lead to states in which fewer do.
void NestedTiles::evolve(Tables& tables, DimSet dims, std::size_t k) {
  const auto count = [&](const Waiting& waiting) {
    return static_cast<int>(std::ranges::count_if(waiting, [](std::int8_t since) { return since > 0; }));
  };
  for (int waiting = p_.tensors; waiting >= 0; --waiting) {
    std::vector<Waiting> states;
    for (const auto& [state, table] : tables)
      if (count(state) == waiting) states.push_back(state);
    for (const Waiting& state : states) {
      DimSet moving = 0;
      for (int x = 0; x < p_.tensors; ++x)
        if (state[x] > 0) moving |= p_.coupled[x];
      Table& table = tables.at(state);
      for_each_bit(dims & ~moving, [&](int d) { close_along(table, d); });
      for_each_bit(dims & moving, [&](int d) { pass_moving_loop(state, table, tables, d, k); });
    }
  }
  for (auto& [state, table] : tables) note(table, Record::Way::kLoops);
}

/// The memory's tile is complete: what does not fit is out, and what it keeps starts to wait.
NestedTiles::Tables NestedTiles::leave_memory(Tables tables, std::size_t k) {
  Tables left;
  for (auto& [state, table] : tables) {
    for (std::size_t n = 0; n < table.cost.size(); ++n)
      if (!fits_[k][n]) table.cost[n] = kInfinity;
    note(table, Record::Way::kLeave);
    Waiting after = state;
    for (int x = 0; x < p_.tensors; ++x) {
      if (!keeps(x, k)) continue;
      const int number = keeper_number(x, k);
      // Where displacements are remembered, loops outside the parent need not repeat a transfer.
      if (within_ && after[x] > 0 && !(displaced_ && p_.affine_dims[x] != 0)) {
        charge(table, x, after[x], k);
        after[x] = 0;
      }
      if (after[x] == 0 && number < static_cast<int>(transfers_.of(x).size()))
        after[x] = static_cast<std::int8_t>(number);
    }
    merge(left, after, std::move(table));
  }
  return left;
}

double NestedTiles::run(const std::vector<double>& weights) {
  weigh(weights);
  records_.assign(1, {});
  Tables tables;
  if (std::ranges::find(reach_, 0U) != reach_.end() || reach_.back() < nodes_) return kInfinity;
  Table start{std::vector<double>(1, 0), std::vector<std::uint32_t>(traced_ ? 1 : 0)};
  tables.emplace(Waiting{}, std::move(start));
  for (std::size_t k = 0; k < rules_.memories.size(); ++k) {
    for (auto& [state, table] : tables) {
      table.cost.resize(reach_[k], kInfinity);
      if (traced_) table.record.resize(reach_[k]);
    }
    Tables ended;
    for (const std::vector<DimSet>& sets : rules_.orders[k]) {
      Tables here = tables;
      for (const DimSet dims : sets) evolve(here, dims, k);
      for (auto& [state, table] : here) merge(ended, state, std::move(table));
    }
    tables = leave_memory(std::move(ended), k);
  }
  // What still waits when all loops are placed moves once.
  double best = kInfinity;
  const std::size_t outermost = rules_.memories.size() - 1;
  for (auto& [state, table] : tables) {
    for (int x = 0; x < p_.tensors; ++x)
      if (state[x] > 0) charge(table, x, state[x], outermost);
    if (!(table.cost.back() < best)) continue;
    best = table.cost.back();
    if (traced_) best_record_ = table.record.back();
  }
  return best + constant_;
}

double NestedTiles::least(const std::vector<double>& weights) {
  traced_ = false;
  return run(weights);
}

std::vector<std::vector<Loop>> NestedTiles::least_loops(const std::vector<double>& weights) {
  traced_ = true;
  std::vector<std::vector<Loop>> loops(rules_.memories.size());
  if (run(weights) == kInfinity) return loops;
  std::vector<Record> path;  // from the outside in
  for (std::uint32_t at = best_record_; at != 0; at = records_[at].before) path.push_back(records_[at]);
  std::size_t k = 0;
  std::uint32_t node = 0;
  for (auto record = path.rbegin(); record != path.rend(); ++record) {
    std::vector<Loop>& here = loops[rules_.memories[k]];
    for (int d = 0; d < p_.dims; ++d) {
      const auto count = static_cast<std::uint32_t>(divisors_[d].size());
      const Count before = divisors_[d][node / stride_[d] % count],
                  after = divisors_[d][record->node / stride_[d] % count];
      if (after == before) continue;
      const auto placed = std::ranges::find(here, d, &Loop::dim);
      if (placed != here.end())
        placed->bound *= after / before;  // one loop of a dim for each memory
      else
        here.insert(here.begin(), Loop{d, after / before});
    }
    node = record->node;
    if (record->way == Record::Way::kLeave) ++k;
  }
  return loops;
}

}  // namespace pliant::audit
