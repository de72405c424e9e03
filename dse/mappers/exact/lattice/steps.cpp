// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/lattice/steps.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "dse/mappers/exact/task/effort.h"
#include "dse/mappers/exact/task/ledger.h"

namespace pliant::exact {

namespace {

/// Enumerates the starts and orders of one memory for steps_into.
class StepSearch {
 public:
  StepSearch(const Lattice& lattice, const StepQuery& query, std::vector<Step>& found)
      : lattice_(lattice), boxes_(lattice.boxes()), p_(lattice.resolved().problem), query_(query), found_(found) {}

  /// All steps from any start to the end asked for.
  void run() {
    boxes_.unpack(query_.k, query_.end, last_);
    const int k = query_.k;
    for (const auto& [status, array] : query_.tables[0]->before[static_cast<std::size_t>(k)]) {
      bool complete = true;
      for (std::size_t f = 0; f < query_.tables.size() && complete; ++f) {
        const auto& before = query_.tables[f]->before[static_cast<std::size_t>(k)];
        const auto entry = before.find(status);
        complete = entry != before.end();
        if (complete) arrays_[f] = entry->second.data();
      }
      if (!complete) continue;
      step_.before = status;
      visit(0, 0, 0);
    }
  }

  /// The cheapest steps from every start to wherever it can end; found_ holds those of one start at a time. A pending
  /// tensor costs at least `once`, whatever moves it.
  double cheapest(const std::function<double(const Status&)>& pending,
                  const std::function<double(int tensor, int pending)>& once) {
    every_order_ = false;
    find_ends();
    double best = query_.limit;
    // The best starts first: then most of the others are no better by themselves.
    struct Group {
      const Status* status;
      const Array* values;
      std::array<double, kMaxTensors> least;  // of its pending tensors
    };
    struct Start {
      double value;  // with the least of its pending tensors
      std::size_t group;
      int node;
      bool operator<(const Start& other) const { return value > other.value; }
    };
    std::vector<Group> groups;
    std::vector<Start> starts;
    for (const auto& [status, array] : query_.tables[0]->before[static_cast<std::size_t>(query_.k)]) {
      groups.push_back({&status, &array, {}});
      double all = 0;
      for (int x = 0; x < p_.tensors; ++x)
        if (status[x] != 0) all += groups.back().least[static_cast<std::size_t>(x)] = once(x, status[x]);
      for (std::size_t node = 0; node < array.size(); ++node)
        if (array[node] + all < best) starts.push_back({array[node] + all, groups.size() - 1, static_cast<int>(node)});
    }
    std::make_heap(starts.begin(), starts.end());
    for (; !starts.empty() && starts.front().value < best; starts.pop_back()) {
      std::pop_heap(starts.begin(), starts.end());
      const Start& next = starts.back();
      const Group& group = groups[next.group];
      step_.before = *group.status;
      step_.node = next.node;
      value_ = (*group.values)[static_cast<std::size_t>(next.node)];
      lattice_.work().work(effort::kStart);
      if (++looked_ % 256 == 0 && lattice_.over()) return best;
      boxes_.unpack(query_.k, step_.node, at_);
      if (!(next.value + least_of_first_loop(group.least) < best)) continue;
      to_every_end(0, [&](DimSet active) {
        found_.clear();
        query_.limit = best;
        start(active);
        for (const Step& step : found_) best = std::min(best, value_ + step.charges[0] + pending(step.after));
      });
    }
    return best;
  }

 private:
  using At = std::array<int, kMaxDims>;
  using Precedence = MemoryOrders::Precedence;

  /// Ends that one loop per dim leads to from where we are; with perfect temporal factors there is one.
  template <typename F>
  void to_every_end(int d, const F& visit, DimSet active = 0) {
    if (d == p_.dims) {
      int end = 0;
      for (int i = 0; i < p_.dims; ++i) end += last_[i] * boxes_.stride(query_.k, i);
      if (boxes_.fits(query_.k, end)) visit(active);
      return;
    }
    const Ends& ends = ends_[static_cast<std::size_t>(d)];
    const auto state = static_cast<std::size_t>(at_[d]);
    for (int i = ends.first[state]; i < ends.first[state + 1] && !lattice_.work().spent(); ++i) {
      lattice_.work().work(effort::kEnd);
      last_[d] = ends.all[static_cast<std::size_t>(i)];
      to_every_end(d + 1, visit, last_[d] == at_[d] ? active : active | only(d));
    }
  }

  /// The states that one loop leads to and that may end here, of every state of a dim.
  struct Ends {
    std::vector<int> first, all;
  };
  void find_ends() {
    for (int d = 0; d < p_.dims; ++d) {
      const Axis& axis = boxes_.axis(query_.k, d);
      Ends& ends = ends_[static_cast<std::size_t>(d)];
      const int states = static_cast<int>(axis.states.size());
      lattice_.work().work(effort::kEnd * axis.states.size());
      ends.first.assign(static_cast<std::size_t>(states) + 2, 0);
      const auto each = [&](auto&& visit) {
        for (int j = 0; j < states; ++j)
          if (axis.may_end[static_cast<std::size_t>(j)])
            for (const int i : axis.below(j)) visit(static_cast<std::size_t>(i), j);
      };
      // How many there are of each state stands two places further on; then those of each are filled in.
      each([&](std::size_t i, int) { ++ends.first[i + 2]; });
      std::partial_sum(ends.first.begin(), ends.first.end(), ends.first.begin());
      ends.all.resize(static_cast<std::size_t>(ends.first.back()));
      each([&](std::size_t i, int j) { ends.all[static_cast<std::size_t>(ends.first[i + 1]++)] = j; });
    }
  }

  /// Beyond the least of every tensor: the first loop that moves any pending tensor moves all that use its dim, and
  /// these pay where it begins. Loops that move nothing may come before it. (What slides pays elsewhere.)
  double least_of_first_loop(const std::array<double, kMaxTensors>& least) {
    DimSet used = 0;
    for (int x = 0; x < p_.tensors; ++x)
      if (step_.before[x] != 0) used |= p_.coupled[x];
    At first = at_;
    DimSet moving = 0;
    for (int d = 0; d < p_.dims; ++d) {
      if (boxes_.axis(query_.k, d).states[at_[d]].left == 1) continue;
      if (contains(used, d)) {
        moving |= only(d);
        continue;
      }
      const Ends& ends = ends_[static_cast<std::size_t>(d)];
      const auto begin = static_cast<std::size_t>(ends.first[static_cast<std::size_t>(at_[d])]);
      if (ends.first[static_cast<std::size_t>(at_[d]) + 1] - static_cast<int>(begin) != 1) return 0;
      first[d] = ends.all[begin];
    }
    if (moving == 0) return 0;
    std::array<double, kMaxTensors> more{};
    for (int x = 0; x < p_.tensors; ++x)
      if (step_.before[x] != 0 && p_.sliding[x] == 0)
        more[x] = std::max(0.0, charge(first, x, step_.before[x], -1, 0) - least[x]);
    double best = kInfinity;
    for (const int d : members(moving)) {
      double total = 0;
      for (int x = 0; x < p_.tensors; ++x)
        if (p_.is_coupled(x, d)) total += more[x];
      best = std::min(best, total);
    }
    return at_least<"L7.2">(best, 0);
  }

  void start(DimSet active) {
    for (const Precedence& order : lattice_.resolved().orders[static_cast<std::size_t>(query_.k)].precedences) {
      step_.loops = 0;
      step_.charges.fill(0);
      place(order, active, step_.before, at_);
    }
  }

  double charge(const At& node, int x, int pending, int slide, int f) {
    for (const ChargeCache::Entry& entry : query_.cache->entries)
      if (entry.pending == pending && entry.slide == slide && entry.tensor == x && entry.functional == f)
        return entry.tables->at(node);
    query_.cache->entries.push_back(
        {f, x, pending, slide,
         std::make_unique<ChargeTables>(
             lattice_.charge_tables(query_.k, x, pending, slide, *query_.functionals[static_cast<std::size_t>(f)]))});
    return query_.cache->entries.back().tables->at(node);
  }

  bool slides(int x, int d, const Status& status) const { return lattice_.slides(query_.k, x, status[x], d); }
  /// The one tensor that a loop over d slides, but in whole windows; -1 = none.
  int brings_whole_windows(int d, const Status& status, const At& node) const {
    int found = -1;
    for (int x = 0; x < p_.tensors; ++x) {
      if (status[x] == 0 || !p_.is_coupled(x, d) || !slides(x, d, status)) continue;
      if (found >= 0) return -1;
      found = x;
    }
    return found >= 0 && windows_apart(lattice_.pending_windows(query_.k, found, status[found]), d, node) ? found : -1;
  }

  /// What the pending tensors must pay at least between this start and the end: each alone, at its best.
  double least_charge(DimSet active) {
    double total = 0;
    for (int x = 0; x < p_.tensors; ++x) {
      const int pending = step_.before[x];
      if (pending == 0 || (active & p_.coupled[x]) == 0) continue;
      At best = at_;
      for (int d = 0; d < p_.dims; ++d)
        if (!p_.is_coupled(x, d)) best[d] = last_[d];
      double least = charge(best, x, pending, -1, 0);
      for (const int d : members(active & p_.sliding[x])) {
        if (!slides(x, d, step_.before) || brings_whole_windows(d, step_.before, at_) == x) continue;
        At slid = best;
        slid[d] = last_[d];
        least = std::min(least, charge(slid, x, pending, d, 0));
      }
      total += least;
    }
    return total;
  }

  void visit(int d, int node, DimSet active) {
    if (d == p_.dims) {
      const double value = arrays_[0][node];
      if (!(value < query_.limit)) return;
      lattice_.work().work(effort::kStart);
      if (++looked_ % 256 == 0 && lattice_.over()) query_.limit = -std::numeric_limits<double>::infinity();
      if (query_.worth) {
        for (std::size_t f = 0; f < query_.tables.size(); ++f) values_[f] = arrays_[f][node];
        if (!query_.worth(values_.data())) return;
      }
      if (!(value + least_charge(active) < query_.limit)) return;
      step_.node = node;
      value_ = value;
      start(active);
      return;
    }
    for (const int i : boxes_.axis(query_.k, d).below(last_[d])) {
      at_[d] = i;
      visit(d + 1, node + i * boxes_.stride(query_.k, d), i == last_[d] ? active : active | only(d));
    }
  }

  void add_charges(const At& node, int x, int pending, int slide) {
    for (std::size_t f = 0; f < query_.functionals.size(); ++f)
      step_.charges[f] += charge(node, x, pending, slide, static_cast<int>(f));
  }

  void finish(const Status& status, const At& node) {
    const ResolvedTask& resolved = lattice_.resolved();
    const int level = resolved.memories[static_cast<std::size_t>(query_.k)];
    const auto charges = step_.charges;
    Status final = status;
    for (int x = 0; x < p_.tensors; ++x) {
      if (!resolved.ends_at_parent(x) || !contains(lattice_.keeps()[level], x) || final[x] == 0) continue;
      add_charges(node, x, final[x], -1);
      final[x] = 0;
    }
    step_.after = lattice_.after_boundary(query_.k, final, query_.end);
    // The tables may have charged a tensor that no loop moved here. Follow them: the mapping that comes out costs no
    // more.
    for (int x = 0; query_.follow && query_.after != nullptr && x < p_.tensors; ++x) {
      if (final[x] == 0 || step_.after[x] == (*query_.after)[x]) continue;
      Status charged = final;
      charged[x] = 0;
      const Status after = lattice_.after_boundary(query_.k, charged, query_.end);
      if (after[x] != (*query_.after)[x]) continue;
      add_charges(node, x, final[x], -1);
      final = charged;
      step_.after = after;
    }
    if ((query_.after == nullptr || step_.after == *query_.after) && value_ + step_.charges[0] < query_.limit) {
      found_.push_back(step_);
      if (query_.ends && query_.ends(step_)) query_.limit = -std::numeric_limits<double>::infinity();
    }
    step_.charges = charges;
  }

  /// One reuse-distinct order after the other for a given start and end.
  void place(const Precedence& order, DimSet active, const Status& status, At node) {
    if (!(value_ + step_.charges[0] < query_.limit)) return;
    lattice_.work().work(effort::kLoop);
    const int placed = step_.loops;
    const TensorSet tensors = lattice_.alive(status);
    DimSet ready = order.ready(active);
    // Loops that move nothing pending come first: they can only help. (Unless every order is its own.)
    for (DimSet rest = sure<"L15.1">(!every_order_) ? ready : 0; rest != 0;) {
      const int d = std::countr_zero(rest);
      rest &= rest - 1;
      bool moves = false;
      for (int x = 0; x < p_.tensors; ++x) moves |= contains(tensors, x) && p_.is_coupled(x, d);
      if (moves) continue;
      node[d] = last_[d];
      active &= ~(only(d));
      step_.order[static_cast<std::size_t>(step_.loops++)] = static_cast<std::int8_t>(d);
      if (rest == 0 && !order.free) rest = order.ready(active) & ~ready;  // what had to wait for these
      ready = order.ready(active);
    }
    if (active == 0) {
      finish(status, node);
      step_.loops = placed;
      return;
    }
    std::array<TensorSet, kMaxDims> tried{};
    int tries = 0;
    for (const int d : members(ready)) {
      TensorSet moved = 0;
      bool sliding = false;
      for (int x = 0; x < p_.tensors; ++x) {
        if (!contains(tensors, x) || !p_.is_coupled(x, d)) continue;
        moved |= only(x);
        sliding |= slides(x, d, status);
      }
      if (!sliding && !every_order_) {
        if (std::find(tried.begin(), tried.begin() + tries, moved) != tried.begin() + tries) continue;
        tried[static_cast<std::size_t>(tries++)] = moved;
      }
      At next = node;
      next[d] = last_[d];
      Status then = status;
      const auto charges = step_.charges;
      const int whole = sliding ? brings_whole_windows(d, status, node) : -1;
      for (int x = 0; x < p_.tensors; ++x) {
        if (!contains(moved, x)) continue;
        if (x != whole && slides(x, d, status))
          add_charges(next, x, status[x], d);
        else  // its tile is the child's, also along a dim that it uses in an index with holes
          add_charges(node, x, status[x], -1);
        then[x] = 0;
      }
      step_.order[static_cast<std::size_t>(step_.loops++)] = static_cast<std::int8_t>(d);
      place(order, active & ~(only(d)), then, next);
      --step_.loops;
      step_.charges = charges;
    }
    step_.loops = placed;
  }

  const Lattice& lattice_;
  const Boxes& boxes_;
  const Problem& p_;
  StepQuery query_;
  std::vector<Step>& found_;
  std::array<const double*, kMaxFunctionals> arrays_{};
  std::array<double, kMaxFunctionals> values_{};
  Step step_;
  bool every_order_ = lattice_.resolved().every_order;
  double value_ = 0;
  std::uint64_t looked_ = 0;  // starts
  At last_{}, at_{};
  std::array<Ends, kMaxDims> ends_;
};

}  // namespace

double cheapest_end(const Lattice& lattice, const Functional& functional, double limit, const Lattice::Tables& tables) {
  const Functional* const one = &functional;
  const Lattice::Tables* const table = &tables;
  ChargeCache cache;
  StepQuery query;
  query.k = lattice.stages() - 1;
  query.functionals = {&one, 1};
  query.tables = {&table, 1};
  query.limit = limit - functional.constant;
  query.cache = &cache;
  Lattice::PendingCosts known;
  std::vector<Step> found;
  const std::vector<double> least = lattice.least_by_pair(functional);
  const double best =
      StepSearch(lattice, query, found)
          .cheapest([&](const Status& status) { return lattice.pending_at_end(status, functional, known); },
                    [&](int tensor, int pending) {
                      double cost = 0;
                      for (const int pair : lattice.pending_pairs(query.k, tensor, pending)) cost += least[pair];
                      return cost;
                    });
  return best < query.limit ? best + functional.constant : kInfinity;
}

void steps_into(const Lattice& lattice, const StepQuery& query, std::vector<Step>& found) {
  StepSearch(lattice, query, found).run();
}

}  // namespace pliant::exact
