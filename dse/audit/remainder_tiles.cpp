// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/remainder_tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/arithmetic.h"
#include "costmodel/bits.h"

namespace pliant::audit {

RemainderTiles::RemainderTiles(const TileRules& rules, const Measures& measures, const ChoiceTransfers& transfers,
                               const Kept& kept, Factorization factorization)
    : rules_(rules),
      measures_(measures),
      transfers_(transfers),
      p_(transfers.problem()),
      kept_(kept),
      loops_divide_(factorization == Factorization::kRubyS) {
  within_ = p_.conventions.stationarity == Conventions::Stationarity::kWithinLevel;
  displaced_ = p_.conventions.halo == Conventions::Halo::kDisplacement ||
               p_.conventions.halo == Conventions::Halo::kTwoIterations;
  for (int d = 0; d < p_.dims; ++d) {
    build_axis(d);
    stride_.push_back(static_cast<std::uint32_t>(std::min(nodes_, 4e9)));
    nodes_ *= static_cast<double>(axes_.back().states.size());
  }
}

/// What a dim can be after some loops, from the inside out: a loop takes a divisor of what is left, or any number where
/// loops in time round; a fanout takes its factor and rounds. Rules about what fits where are left out, which allows
/// more, and fanouts may have more units than there is left.
void RemainderTiles::build_axis(int dim) {
  const auto next = [&](const State& s) {
    std::vector<State> found;
    if (loops_divide_) {
      for (const Count b : divisors_of(s.left))
        if (b > 1) found.push_back({s.tile * b, s.left / b});
    } else {
      for (Count b = 2; b <= s.left; ++b) found.push_back({s.tile * b, ceil_div(s.left, b)});
    }
    return found;
  };
  const auto spread = [&](const State& s, Count factor) { return State{s.tile * factor, ceil_div(s.left, factor)}; };
  std::set<State> now{{1, static_cast<Count>(p_.size[dim])}}, all;
  for (int l = p_.levels - 1; l >= 0; --l) {
    std::set<State> after;
    if (p_.is_memory[l]) {
      std::vector<State> open(now.begin(), now.end());
      after = now;
      while (!open.empty()) {
        const State s = open.back();
        open.pop_back();
        for (const State& one : next(s))
          if (after.insert(one).second) open.push_back(one);
      }
    } else {
      for (const State& s : now) after.insert(spread(s, transfers_.factor(l, dim)));
    }
    all.insert(now.begin(), now.end());
    all.insert(after.begin(), after.end());
    now = std::move(after);
  }
  Axis axis;
  axis.states.assign(all.begin(), all.end());
  constexpr auto kNowhere = std::numeric_limits<std::uint32_t>::max();
  const auto index = [&](const State& s) {
    const auto found = std::ranges::lower_bound(axis.states, s);
    return found != axis.states.end() && *found == s ? static_cast<std::uint32_t>(found - axis.states.begin())
                                                     : kNowhere;
  };
  axis.through.resize(static_cast<std::size_t>(p_.levels));
  for (const State& s : axis.states) {
    auto& to = axis.loops.emplace_back();
    for (const State& one : next(s))
      if (const std::uint32_t i = index(one); i != kNowhere) to.push_back(i);
    for (int l = 0; l < p_.levels; ++l)
      if (!p_.is_memory[l])
        axis.through[static_cast<std::size_t>(l)].push_back(index(spread(s, transfers_.factor(l, dim))));
  }
  axes_.push_back(std::move(axis));
}

int RemainderTiles::keeper_number(int x, std::size_t k) const {
  int number = 0;
  for (std::size_t m = 0; m <= k; ++m) number += keeps(x, m) ? 1 : 0;
  return number;
}

/// What counts: loops outside the run, copies of the parent (or of the child), and units that a fanout between them
/// does not serve as one. What does not: loops inside the run and all other fanouts. One iteration that counts covers
/// at most the product of the bounds that do not, so there are at least size / product of them.
std::vector<std::vector<double>> RemainderTiles::fewest(const Transfer& t, std::size_t k, bool served) const {
  std::vector<std::vector<double>> by_dim(static_cast<std::size_t>(p_.dims));
  const int here = level(k);
  for (int d = 0; d < p_.dims; ++d) {
    if (p_.is_coupled(t.tensor, d)) continue;
    double counted_inside = 1, uncounted_outside = 1;
    for (int l = 0; l < p_.levels; ++l) {
      if (p_.is_memory[l]) continue;
      const bool shares = (p_.sharing[t.tensor] >> l & 1U) != 0;
      const bool counts = served ? l < t.parent || (l < t.child && !shares) : l < t.child;
      const auto factor = static_cast<double>(transfers_.factor(l, d));
      if (counts && l > here) counted_inside *= factor;
      if (!counts && l < here) uncounted_outside *= factor;
    }
    for (const State& s : axes_[static_cast<std::size_t>(d)].states) {
      const double covered = static_cast<double>(s.tile) * uncounted_outside / counted_inside;
      by_dim[static_cast<std::size_t>(d)].push_back(std::max(1.0, std::ceil(p_.size[d] / covered - 1e-9)));
    }
  }
  return by_dim;
}

/// Each of these iterations brings every element of the tensor at least once. (Timeloop's memory of displacements may
/// find windows of before: there the tensor comes once in all.)
void RemainderTiles::charge(Table& table, int x, int since, std::size_t k) const {
  const int inside = k == 0 ? 0 : keeper_number(x, k - 1);
  const int last = std::min(inside, static_cast<int>(transfers_.of(x).size()) - 1);
  const bool once = displaced_ && p_.affine_dims[x] != 0;
  const double elements = p_.tensor_words[x];
  for (int i = since; i <= last; ++i) {
    const Transfer& t = transfers_.of(x)[static_cast<std::size_t>(i)];
    const double served_cost = t.served[measure_], delivered_cost = t.delivered[measure_];
    const double read_back_cost = t.read_back[measure_], fill_cost = t.fill[measure_];
    if (served_cost == 0 && delivered_cost == 0 && read_back_cost == 0 && fill_cost == 0) continue;
    const std::vector<std::vector<double>> served_times = fewest(t, k, true), delivered_times = fewest(t, k, false);
    for (std::uint32_t n = 0; n < table.size(); ++n) {
      if (table[n] == kInfinity) continue;
      double served = elements, delivered = elements;
      for (int d = 0; d < p_.dims && !once; ++d) {
        const auto& of_served = served_times[static_cast<std::size_t>(d)];
        if (of_served.empty()) continue;
        const std::uint32_t state = at(n, d);
        served *= of_served[state];
        delivered *= delivered_times[static_cast<std::size_t>(d)][state];
      }
      table[n] += served_cost * served + delivered_cost * delivered +
                  read_back_cost * std::max(0.0, served - t.most_first_parent) +
                  fill_cost * std::max(0.0, delivered - t.most_first_child);
    }
  }
}

/// The least over all smaller tiles along a dim; states ascend, so what a loop starts from is done before.
void RemainderTiles::lower_along(Table& table, int dim) const {
  const Axis& axis = axes_[static_cast<std::size_t>(dim)];
  const std::uint32_t stride = stride_[static_cast<std::size_t>(dim)];
  const auto count = static_cast<std::uint32_t>(axis.states.size());
  for (std::uint32_t from = 0; from < count; ++from)
    for (const std::uint32_t to : axis.loops[from])
      for (std::uint32_t first = 0; first < table.size(); first += stride * count)
        for (std::uint32_t n = 0; n < stride; ++n)
          table[first + to * stride + n] = std::min(table[first + to * stride + n], table[first + from * stride + n]);
}

void RemainderTiles::merge(Tables& tables, const Waiting& waiting, Table&& table) const {
  auto [entry, fresh] = tables.try_emplace(waiting, std::move(table));
  if (fresh) return;
  for (std::size_t n = 0; n < table.size(); ++n) entry->second[n] = std::min(entry->second[n], table[n]);
}

void RemainderTiles::pass_moving_loop(const Waiting& waiting, Table table, Tables& tables, int dim,
                                      std::size_t k) const {
  Waiting after = waiting;
  for (int x = 0; x < p_.tensors; ++x) {
    if (waiting[x] == 0 || !p_.is_coupled(x, dim)) continue;
    after[x] = 0;
    charge(table, x, waiting[x], k);
  }
  lower_along(table, dim);
  merge(tables, after, std::move(table));
}

void RemainderTiles::evolve(Tables& tables, DimSet dims, std::size_t k) const {
  const auto count = [](const Waiting& waiting) {
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
      for_each_bit(dims & ~moving, [&](int d) { lower_along(table, d); });
      for_each_bit(dims & moving, [&](int d) { pass_moving_loop(state, table, tables, d, k); });
    }
  }
}

RemainderTiles::Table RemainderTiles::through_fanout(const Table& table, int level) const {
  bool spreads = false;
  for (int d = 0; d < p_.dims; ++d) spreads |= transfers_.factor(level, d) > 1;
  if (!spreads) return table;
  Table after(table.size(), kInfinity);
  for (std::uint32_t n = 0; n < table.size(); ++n) {
    if (table[n] == kInfinity) continue;
    std::uint32_t to = 0;
    for (int d = 0; d < p_.dims; ++d)
      to += stride_[static_cast<std::size_t>(d)] *
            axes_[static_cast<std::size_t>(d)].through[static_cast<std::size_t>(level)][at(n, d)];
    after[to] = std::min(after[to], table[n]);
  }
  return after;
}

RemainderTiles::Tables RemainderTiles::leave_memory(Tables tables, std::size_t k) const {
  Tables left;
  const int outside = k + 1 < rules_.memories.size() ? level(k + 1) : -1;
  for (auto& [state, table] : tables) {
    for (std::size_t n = 0; n < table.size(); ++n)
      if (!fits_[k][n]) table[n] = kInfinity;
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
    for (int l = level(k) - 1; l > outside; --l) table = through_fanout(table, l);
    merge(left, after, std::move(table));
  }
  return left;
}

RemainderTiles::Table RemainderTiles::run(std::size_t measure) {
  measure_ = measure;
  const auto size = static_cast<std::size_t>(nodes_);
  Table start(size, kInfinity);
  std::uint32_t first = 0;
  for (int d = 0; d < p_.dims; ++d) {
    const auto& states = axes_[static_cast<std::size_t>(d)].states;
    const State begin{1, static_cast<Count>(p_.size[d])};
    first += stride_[static_cast<std::size_t>(d)] *
             static_cast<std::uint32_t>(std::ranges::lower_bound(states, begin) - states.begin());
  }
  start[first] = 0;
  for (int l = p_.levels - 1; l > level(0); --l) start = through_fanout(start, l);
  Tables tables;
  tables.emplace(Waiting{}, std::move(start));
  for (std::size_t k = 0; k < rules_.memories.size(); ++k) {
    Tables ended;
    for (const std::vector<DimSet>& sets : rules_.orders[k]) {
      Tables here = tables;
      for (const DimSet dims : sets) evolve(here, dims, k);
      for (auto& [state, table] : here) merge(ended, state, std::move(table));
    }
    tables = leave_memory(std::move(ended), k);
  }
  Table best(size, kInfinity);
  for (auto& [state, table] : tables) {
    for (int x = 0; x < p_.tensors; ++x)
      if (state[x] > 0) charge(table, x, state[x], rules_.memories.size() - 1);
    for (std::size_t n = 0; n < size; ++n) best[n] = std::min(best[n], table[n]);
  }
  return best;
}

std::vector<RemainderTiles::End> RemainderTiles::ends() {
  const auto size = static_cast<std::size_t>(nodes_);
  // Nodes whose tiles a memory may hold: a dim's tile is the product of all bounds inside, and at most the dim.
  for (std::size_t k = 0; k < rules_.memories.size(); ++k) {
    const MemoryRules& memory = rules_.space.memories[rules_.memories[k]];
    auto& fits = fits_.emplace_back(size, char{1});
    if (memory.holds_everything() && !memory.has_fixed_tile) continue;
    std::array<Count, kMaxDims> fixed{};
    for (int d = 0; d < p_.dims; ++d) fixed[d] = rules_.space.fixed_tile(memory, d, static_cast<Count>(p_.size[d]));
    for (std::uint32_t n = 0; n < size; ++n) {
      std::array<Count, kMaxDims> tile{};
      bool stands = true;
      for (int d = 0; d < p_.dims; ++d) {
        const auto whole = static_cast<Count>(p_.size[d]);
        tile[d] = std::min(axes_[static_cast<std::size_t>(d)].states[at(n, d)].tile, whole);
        stands &= fixed[d] == 0 || tile[d] == fixed[d];
      }
      fits[n] = stands && memory.holds(kept_[rules_.memories[k]], rules_.space.elements, tile) ? 1 : 0;
    }
  }
  std::vector<Table> by_measure;
  for (std::size_t m = 0; m < measures_.size(); ++m) by_measure.push_back(run(m));
  std::vector<End> ends;
  for (std::uint32_t n = 0; n < size; ++n) {
    if (by_measure[0][n] == kInfinity) continue;
    End end;
    end.steps = p_.cycles_per_mac;
    bool complete = true;
    for (int d = 0; d < p_.dims; ++d) {
      const State& s = axes_[static_cast<std::size_t>(d)].states[at(n, d)];
      complete &= s.left == 1;
      Count units = 1;
      for (int l = 0; l < p_.levels; ++l) units *= transfers_.factor(l, d);
      end.steps *=
          static_cast<double>(loops_divide_ ? s.tile / units : ceil_div(static_cast<Count>(p_.size[d]), units));
    }
    if (!complete) continue;
    for (const Table& table : by_measure) end.least.push_back(table[n]);
    ends.push_back(std::move(end));
  }
  return ends;
}

}  // namespace pliant::audit
