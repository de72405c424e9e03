// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/nested_tiles.h"

#include <algorithm>
#include <span>

#include "costmodel/bits.h"

namespace pliant::audit {

NestedTiles::NestedTiles(const TileRules& rules, const ChoiceTransfers& transfers, const Kept& kept)
    : rules_(rules),
      transfers_(transfers),
      p_(transfers.problem()),
      kept_(kept),
      lattice_(rules, transfers, kept),
      place_(lattice_.nodes(), 0),
      tile_(rules.memories.size()),
      order_(rules.memories.size()) {
  within_ = p_.conventions.stationarity == Conventions::Stationarity::kWithinLevel;
  displaced_ = p_.conventions.halo == Conventions::Halo::kDisplacement ||
               p_.conventions.halo == Conventions::Halo::kTwoIterations;
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

// ---- What transfers cost ----

void NestedTiles::weigh(const std::vector<double>& weights) {
  per_served_.clear();
  per_delivered_.clear();
  least_.clear();
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
    auto& least = least_.emplace_back();
    for (const Transfer& transfer : transfers_.of(x)) {
      served.push_back(weighed(transfer.served));
      delivered.push_back(weighed(transfer.delivered));
      least.push_back(served.back() * transfer.least_served + delivered.back() * transfer.least_delivered);
      constant_ += weighed(transfer.constant) + least.back();
    }
  }
}

/// What any mapping moves by the transfers that wait at a memory.
double NestedTiles::least_of(int x, int since, std::size_t k) const {
  double least = 0;
  for (int t = since; t <= last_waiting(x, k); ++t) least += least_[x][t];
  return least;
}

double NestedTiles::window_cost(int x, int since, std::size_t k, const TileLattice::Tile& tile, int dim,
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

NestedTiles::Costs& NestedTiles::costs_of(int x, int since, std::size_t k, int dim) {
  Costs& costs = known_costs_[{x, since, static_cast<int>(k), dim}];
  if (costs.empty()) costs.assign(lattice_.windows(x).size() * (dim < 0 ? 1 : lattice_.divisors(dim).size()), -1.0);
  return costs;
}

double NestedTiles::cost_at(int x, int since, std::size_t k, std::uint32_t node, Costs& known) const {
  if (displaced_ && p_.affine_dims[x] != 0) return 0;
  const std::uint32_t window = lattice_.window(x, node);
  double& cost = known[window];
  if (cost < 0) cost = window_cost(x, since, k, lattice_.windows(x)[window], -1, 1);
  return cost * lattice_.repeats(x, node);
}

void NestedTiles::charge(Table& table, int x, int since, std::size_t k) {
  const double least = least_of(x, since, k);
  Costs& known = costs_of(x, since, k, -1);
  for (std::size_t i = table.node.size(); i-- > 0;) {
    table.cost[i] += std::max(0.0, cost_at(x, since, k, table.node[i], known) - least);
    if (table.cost[i] > most_) table.remove(i);
  }
}

/// What slides along a dim cost, from one window to all larger ones.
void NestedTiles::find_slides(int x, int since, std::size_t k, int dim, std::uint32_t window, Costs& costs) const {
  const std::vector<Count>& sizes = lattice_.divisors(dim);
  const TileLattice::Tile& tile = lattice_.windows(x)[window];
  double* const row = &costs[window * sizes.size()];
  for (std::size_t to = 0; to < sizes.size(); ++to) {
    const bool leads = sizes[to] > tile[dim] && sizes[to] % tile[dim] == 0;
    row[to] = leads ? window_cost(x, since, k, tile, dim, sizes[to] / tile[dim]) : kInfinity;
  }
  const bool goes_on = p_.conventions.halo == Conventions::Halo::kRun && !(rules_.movable[k] >> dim & 1U);
  for (std::size_t to = 0; goes_on && to < sizes.size(); ++to)
    for (std::size_t further = to + 1; further < sizes.size(); ++further)
      if (sizes[further] % sizes[to] == 0 && row[to] < kInfinity) row[to] = std::min(row[to], row[further]);
}

// ---- Steps of the programme ----

void NestedTiles::Table::remove(std::size_t place) {
  node[place] = node.back();
  cost[place] = cost.back();
  record[place] = record.back();
  node.pop_back();
  cost.pop_back();
  record.pop_back();
}

NestedTiles::Growing::Growing(Table& table, std::vector<std::uint32_t>& place) : table_(table), place_(place) {
  for (std::uint32_t i = 0; i < table.node.size(); ++i) place_[table.node[i]] = i + 1;
}

NestedTiles::Growing::~Growing() {
  for (const std::uint32_t node : table_.node) place_[node] = 0;
}

bool NestedTiles::Growing::lower(std::uint32_t node, double cost, std::uint32_t record) {
  std::uint32_t& place = place_[node];
  if (place == 0) {
    table_.node.push_back(node);
    table_.cost.push_back(cost);
    table_.record.push_back(record);
    place = static_cast<std::uint32_t>(table_.node.size());
    return true;
  }
  if (!(cost < table_.cost[place - 1])) return false;
  table_.cost[place - 1] = cost;
  table_.record[place - 1] = record;
  return true;
}

void NestedTiles::merge(Tables& tables, const Waiting& waiting, Table&& table) {
  auto [entry, fresh] = tables.try_emplace(waiting, std::move(table));
  if (fresh || table.node.empty()) return;
  Growing all(entry->second, place_);
  for (std::size_t i = 0; i < table.node.size(); ++i) all.lower(table.node[i], table.cost[i], table.record[i]);
}

void NestedTiles::note(Table& table, DimSet next, bool leaves) {
  if (!traced_) return;
  for (std::size_t i = 0; i < table.node.size(); ++i) {
    records_.push_back({table.record[i], table.node[i], next, leaves});
    table.record[i] = static_cast<std::uint32_t>(records_.size() - 1);
  }
}

/// The least over all smaller tiles along a dim: every path goes on, prime by prime, until another is as good.
void NestedTiles::close_along(Table& table, int dim, std::size_t k) {
  const std::uint32_t stride = lattice_.stride(dim);
  for (const std::vector<std::uint32_t>& next : lattice_.steps(dim)) {
    Growing all(table, place_);
    const std::size_t count = table.node.size();
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t node = table.node[i], index = lattice_.index(node, dim);
      const double cost = table.cost[i];
      const std::uint32_t record = table.record[i];
      while (next[index] > 0) {
        node += (next[index] - index) * stride;
        index = next[index];
        if (!lattice_.passes(k, node) || !all.lower(node, cost, record)) break;
      }
    }
  }
}

/// A loop over one of these dims ends the run of the tensors. Loops over them are free then, so they follow when the
/// state that is reached has its turn.
void NestedTiles::end_runs(const Waiting& waiting, const Table& from, Tables& tables, TensorSet ending, DimSet dims,
                           std::size_t k) {
  Waiting after = waiting;
  Table table = from;
  for_each_bit(ending, [&](int x) {
    after[x] = 0;
    charge(table, x, waiting[x], k);
  });
  note(table, dims, false);
  merge(tables, after, std::move(table));
}

/// A sliding loop: what it costs depends on the tile before it and on its bound.
void NestedTiles::slide(const Waiting& waiting, const Table& from, Tables& tables, TensorSet ending, int dim,
                        std::size_t k) {
  Waiting after = waiting;
  Table table = from;
  struct Sliding {
    int tensor;
    double least;
    Costs& costs;
  };
  std::vector<Sliding> sliding;
  for_each_bit(ending, [&](int x) {
    after[x] = 0;
    if (slides(x, dim))
      sliding.push_back(Sliding{x, least_of(x, waiting[x], k), costs_of(x, waiting[x], k, dim)});
    else
      charge(table, x, waiting[x], k);
  });
  note(table, DimSet{1} << dim, false);
  Growing moved(tables[after], place_);
  const std::vector<Count>& sizes = lattice_.divisors(dim);
  const auto count = static_cast<std::uint32_t>(sizes.size());
  for (std::size_t i = 0; i < table.node.size(); ++i) {
    const std::uint32_t node = table.node[i], index = lattice_.index(node, dim);
    for (const Sliding& one : sliding)
      if (const std::uint32_t window = lattice_.window(one.tensor, node); one.costs[window * count] < 0)
        find_slides(one.tensor, waiting[one.tensor], k, dim, window, one.costs);
    for (std::uint32_t j = index + 1; j < count; ++j) {
      if (sizes[j] % sizes[index] != 0) continue;
      double cost = table.cost[i];
      for (const Sliding& one : sliding) {
        const double words = one.costs[lattice_.window(one.tensor, node) * count + j];
        cost += std::max(0.0, words * lattice_.repeats(one.tensor, node) - one.least);
      }
      const std::uint32_t to = node + (j - index) * lattice_.stride(dim);
      if (cost <= most_ && lattice_.passes(k, to)) moved.lower(to, cost, table.record[i]);
    }
  }
}

/// All loops over these dims, in any order: states in which more tensors wait lead to states in which fewer do.
void NestedTiles::evolve(Tables& tables, DimSet dims, std::size_t k) {
  const auto count = [&](const Waiting& waiting) {
    return static_cast<int>(std::ranges::count_if(waiting, [](std::int8_t since) { return since > 0; }));
  };
  for (int waiting = p_.tensors; waiting >= 0; --waiting) {
    std::vector<Waiting> states;
    for (const auto& [state, table] : tables)
      if (count(state) == waiting && !table.node.empty()) states.push_back(state);
    for (const Waiting& state : states) {
      Table& table = tables.at(state);
      std::map<TensorSet, DimSet> ends;  // whose runs end together by a loop over any of the dims
      for_each_bit(dims, [&](int d) {
        TensorSet ending = 0;
        for (int x = 0; x < p_.tensors; ++x)
          if (state[x] > 0 && p_.is_coupled(x, d)) ending |= TensorSet{1} << x;
        ends[ending] |= DimSet{1} << d;
      });
      for_each_bit(ends[0], [&](int d) { close_along(table, d, k); });
      ends.erase(0);
      for (const auto& end : ends) {
        const auto ending = end.first;  // clang 14 takes no structured binding into a lambda
        const auto& by = end.second;
        DimSet plain = by;
        for_each_bit(by, [&](int d) {
          bool any = false;
          for_each_bit(ending, [&](int x) { any |= slides(x, d); });
          if (!any) return;
          plain &= ~(DimSet{1} << d);
          slide(state, table, tables, ending, d, k);
        });
        if (plain != 0) end_runs(state, table, tables, ending, plain, k);
      }
    }
  }
  for (auto& [state, table] : tables) note(table, 0, false);
}

/// The memory's tile is complete: what does not fit is out, and what it keeps starts to wait.
NestedTiles::Tables NestedTiles::leave_memory(Tables tables, std::size_t k) {
  Tables left;
  for (auto& [state, table] : tables) {
    for (std::size_t i = table.node.size(); i-- > 0;)
      if (!lattice_.ends(k, table.node[i]) || tile_[k].value_or(table.node[i]) != table.node[i]) table.remove(i);
    note(table, 0, true);
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

double NestedTiles::run(const std::vector<double>& weights, double enough) {
  weigh(weights);
  records_.assign(1, {});
  most_ = enough - constant_;
  const std::size_t outermost = rules_.memories.size() - 1;
  const std::uint32_t whole = lattice_.nodes() - 1;
  if (!lattice_.passes(0, 0) || !lattice_.ends(outermost, whole)) return kInfinity;
  Tables tables;
  tables.emplace(Waiting{}, Table{{0}, {0.0}, {0}});
  for (std::size_t k = 0; k <= outermost; ++k) {
    Tables ended;
    const std::span<const Order> orders = order_[k] ? std::span(&*order_[k], 1) : std::span(rules_.orders[k]);
    for (const Order& sets : orders) {
      Tables now = &sets == &orders.back() ? std::move(tables) : tables;
      for (const DimSet dims : sets) evolve(now, dims, k);
      for (auto& [state, table] : now) merge(ended, state, std::move(table));
    }
    tables = leave_memory(std::move(ended), k);
  }
  // What still waits when all loops are placed moves once.
  double best = kInfinity;
  for (const auto& [state, table] : tables) {
    const auto last = std::ranges::find(table.node, whole) - table.node.begin();
    if (last == static_cast<std::ptrdiff_t>(table.node.size())) continue;
    double cost = table.cost[static_cast<std::size_t>(last)];
    for (int x = 0; x < p_.tensors; ++x)
      if (state[x] > 0)
        cost += std::max(0.0, cost_at(x, state[x], outermost, whole, costs_of(x, state[x], outermost, -1)) -
                                  least_of(x, state[x], outermost));
    if (!(cost < best)) continue;
    best = cost;
    best_record_ = table.record[static_cast<std::size_t>(last)];
  }
  return best <= most_ && best < kInfinity ? best + constant_ : enough;
}

double NestedTiles::least(const std::vector<double>& weights, double enough) {
  traced_ = false;
  return run(weights, enough);
}

std::vector<std::vector<Loop>> NestedTiles::least_loops(const std::vector<double>& weights) {
  traced_ = true;
  std::vector<std::vector<Loop>> loops(rules_.memories.size());
  if (run(weights, kInfinity) == kInfinity) return loops;
  std::vector<Record> path;  // from the outside in
  for (std::uint32_t at = best_record_; at != 0; at = records_[at].before) path.push_back(records_[at]);
  std::size_t k = 0;
  std::uint32_t node = 0;
  DimSet first = 0;
  for (auto record = path.rbegin(); record != path.rend(); ++record) {
    std::vector<Loop>& here = loops[rules_.memories[k]];
    for (const DimSet dims : {first, below(p_.dims) & ~first})
      for_each_bit(dims, [&](int d) {
        const Count before = lattice_.divisors(d)[lattice_.index(node, d)],
                    after = lattice_.divisors(d)[lattice_.index(record->node, d)];
        if (after == before) return;
        const auto placed = std::ranges::find(here, d, &Loop::dim);
        if (placed != here.end())
          placed->bound *= after / before;  // one loop of a dim for each memory
        else
          here.insert(here.begin(), Loop{d, after / before});
      });
    node = record->node;
    first = record->first;
    if (record->leaves) ++k;
  }
  return loops;
}

}  // namespace pliant::audit
