// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/lattice/lattice.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "dse/mappers/exact/lattice/steps.h"
#include "dse/mappers/exact/task/effort.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/words/kernels.h"

namespace pliant::exact {

namespace {

/// Where at most this share of all nodes is left at the outermost memory, each is completed by itself.
constexpr double kFewStarts = 0.1;

void merge(Lattice::Values& values, const Status& status, Array array) {
  auto [entry, fresh] = values.try_emplace(status);
  if (fresh)
    entry->second = std::move(array);
  else
    min_into(entry->second.data(), array.data(), array.size());
}

}  // namespace

Lattice::Lattice(const ResolvedTask& resolved, const Spatial& spatial, const Keeps& keeps, ArrayStore& store,
                 SearchLimits& limits)
    : resolved_(resolved),
      spatial_(spatial),
      keeps_(keeps),
      store_(store),
      work_(limits),
      boxes_(resolved, spatial_, keeps_, store, work_),
      costs_(resolved, spatial_) {
  const Problem& p = resolved_.problem;
  // The tensors' pairs, inside out.
  for (int x = 0; x < p.tensors; ++x) {
    int child = p.levels;
    for (const int l : resolved_.memories) {
      if (!contains(keeps_[l], x)) continue;
      pairs_of_[x].push_back(static_cast<int>(pairs_.size()));
      pairs_.push_back({x, l, child});
      child = l;
    }
    initial_[x] = resolved_.staying(x, pairs_[pairs_of_[x].front()].parent) != 0 ? 1 : 0;
  }
}

std::span<const KeeperPair> Lattice::pairs_of(int tensor) const {
  return {pairs_.data() + pairs_of_[tensor].front(), pairs_of_[tensor].size()};
}

Functional Lattice::energy() const {
  const Problem& p = resolved_.problem;
  Functional f;
  f.weights.resize(pairs_.size());
  f.constant = p.macs * p.mac_pj;
  for (int x = 0; x < p.tensors; ++x) f.constant += costs_.energy(pairs_of(x), f.weights.data() + pairs_of_[x].front());
  return f;
}

Functional Lattice::port(const Port& port) const {
  Functional f;
  f.weights.resize(pairs_.size());
  for (int x = 0; x < resolved_.problem.tensors; ++x)
    f.constant += costs_.port(port, pairs_of(x), f.weights.data() + pairs_of_[x].front());
  return f;
}

std::vector<int> Lattice::pending_pairs(int k, int tensor, int pending) const {
  std::vector<int> found;
  for (auto j = static_cast<std::size_t>(first_pending(pending)); j < pairs_of_[tensor].size(); ++j)
    if (pairs_[pairs_of_[tensor][j]].child > resolved_.memories[k]) found.push_back(pairs_of_[tensor][j]);
  return found;
}

TensorSet Lattice::alive(const Status& status) const {
  TensorSet set = 0;
  for (int x = 0; x < resolved_.problem.tensors; ++x)
    if (status[x] != 0) set |= only(x);
  return set;
}

double Lattice::repetitions(int tensor, int pending) const {
  return pending >= kStaying ? repeated_[tensor][static_cast<std::size_t>(pending - kStaying)] : 1;
}

Status Lattice::after_boundary(int k, Status status, int node) const {
  const int level = resolved_.memories[k];
  if (k == 0 && resolved_.compute_runs) {
    // Loops of the innermost memory give no reuse: remember how often they repeat an operand that stays.
    std::array<int, kMaxDims> at{};
    boxes_.unpack(k, node, at);
    for (int x = 0; x < resolved_.problem.tensors; ++x) {
      if (status[x] != 1 || initial_[x] != 1) continue;
      double product = 1;
      for (int d = 0; d < resolved_.problem.dims; ++d)
        if (!resolved_.problem.is_coupled(x, d))
          product *= static_cast<double>(boxes_.axis(0, d).states[at[d]].tile /
                                         boxes_.axis(0, d).states[boxes_.axis(0, d).start].tile);
      auto& known = repeated_[x];
      const auto found = std::find(known.begin(), known.end(), product);
      status[x] = static_cast<std::int16_t>(kStaying + (found - known.begin()));
      if (found == known.end()) known.push_back(product);
    }
  }
  for (int x = 0; x < resolved_.problem.tensors; ++x) {
    if (!contains(keeps_[level], x) || status[x] != 0) continue;
    for (std::size_t j = 0; j < pairs_of_[x].size(); ++j)
      if (pairs_[pairs_of_[x][j]].child == level) status[x] = static_cast<std::int16_t>(j + 1);
  }
  return status;
}

Array Lattice::charge(int k, int tensor, int pending, int slide, const Functional& functional) const {
  const ChargeTables tables = charge_tables(k, tensor, pending, slide, functional);
  work_.work(static_cast<std::uint64_t>(boxes_.size(k)));
  Array values(store_, static_cast<std::size_t>(boxes_.size(k)));
  tables.fill(boxes_.fastest_first(), boxes_.extents(k), {values.data(), values.size()});
  return values;
}

void Lattice::grow(int k, DimSet dims, Array& values) const {
  const int size = boxes_.size(k);
  const std::vector<int>& extent = boxes_.extents(k);
  // Edges between all tiles of a long axis leave the processor's caches; those between groups often do not.
  const std::uint64_t effort_of_edge = !may_be_imperfect(resolved_.task.factorization, false) ? 1 : grouped() ? 2 : 3;
  for (const int d : members(dims)) {
    if (extent[d] == 1 || over()) continue;
    work_.work(effort_of_edge * static_cast<std::uint64_t>(size / extent[d]) * boxes_.axis(k, d).edges.size());
    close_chains(values.data(), size, boxes_.stride(k, d), extent[d], boxes_.axis(k, d).edges);
  }
}

const double* Lattice::charged(int k, int tensor, int pending, int slide, const Functional& functional,
                               Charges& charges) const {
  auto [entry, fresh] = charges.words.try_emplace({tensor, pending, slide});
  if (fresh) entry->second = charge(k, tensor, pending, slide, functional);
  return entry->second.data();
}

void Lattice::charge_moved(int k, const Status& status, TensorSet moved, TensorSet sliding, int dim,
                           const Functional& functional, Charges& charges, Array& work, Array& target) const {
  const auto words = [&](int x) {
    return charged(k, x, status[x], contains(sliding, x) ? dim : -1, functional, charges);
  };
  for (; std::popcount(moved) > 1; moved &= moved - 1)
    add_into(work.data(), words(std::countr_zero(moved)), work.size());
  min_sum_into(target.data(), work.data(), words(std::countr_zero(moved)), target.size());
}

void Lattice::run_group(int k, DimSet group, const Functional& functional, Values& values, Charges& charges) const {
  const Problem& p = resolved_.problem;
  Array work;
  // Statuses with more tensors pending lead to those with fewer.
  for (int count = p.tensors; count >= 0; --count) {
    std::vector<Status> now;
    for (const auto& [status, array] : values)
      if (std::popcount(alive(status)) == count) now.push_back(status);
    for (const Status& status : now) {
      if (over()) return;
      const TensorSet tensors = alive(status);
      DimSet still = group;
      for (int x = 0; x < p.tensors; ++x)
        if (contains(tensors, x)) still &= ~p.coupled[x];
      Array& array = values.at(status);
      grow(k, still, array);
      if (tensors == 0) continue;
      std::vector<TensorSet> plain_done;
      for (const int e : members(group & ~still)) {
        if (over()) return;
        const int d = e;
        TensorSet moved = 0, sliding = 0;
        for (int x = 0; x < p.tensors; ++x) {
          if (!contains(tensors, x) || !p.is_coupled(x, d)) continue;
          moved |= only(x);
          if (slides(k, x, status[x], d)) sliding |= only(x);
        }
        if (sliding == 0) {
          if (std::find(plain_done.begin(), plain_done.end(), moved) != plain_done.end()) continue;
          plain_done.push_back(moved);
        }
        Status after = status;
        for (int x = 0; x < p.tensors; ++x)
          if (contains(moved, x)) after[x] = 0;
        work_.work(2 * array.size());
        auto [entry, fresh] = values.try_emplace(after);
        if (fresh) entry->second = Array(store_, array.size(), kInfinity);
        Array& target = entry->second;
        if (sliding == 0 && std::popcount(moved) == 1) {  // no copy needed
          const int x = std::countr_zero(moved);
          min_sum_into(target.data(), array.data(), charged(k, x, status[x], -1, functional, charges), target.size());
          continue;
        }
        work = array;
        if (std::popcount(sliding) == 1) {
          const int x = std::countr_zero(sliding);
          auto [found, unknown] = charges.apart.try_emplace({x, status[x], d});
          if (unknown) found->second = ApartNodes(pending_windows(k, x, status[x]), d, store_);
          const ApartNodes& where = found->second;
          if (!where.nowhere) {  // each node is either a loop that brings whole windows or one that slides
            add_into(work.data(), where.apart.data(), work.size());
            charge_moved(k, status, moved, 0, d, functional, charges, work, target);
            work = array;
            add_into(work.data(), where.overlapping.data(), work.size());
          }
        }
        if (sliding == 0) {
          charge_moved(k, status, moved, 0, d, functional, charges, work, target);
          continue;
        }
        // What does not slide is charged where the loop begins, what slides where it ends.
        for (const int x : members(moved & ~sliding)) {
          add_into(work.data(), charged(k, x, status[x], -1, functional, charges), work.size());
        }
        grow(k, only(d), work);
        charge_moved(k, status, sliding, sliding, d, functional, charges, work, target);
      }
    }
  }
}

double Lattice::steps_to(int final_node) const {
  if (resolved_.task.factorization != Factorization::kRubyS) return steps();
  std::array<int, kMaxDims> at{};
  boxes_.unpack(stages() - 1, final_node, at);
  double steps = resolved_.problem.cycles_per_mac;
  for (int d = 0; d < resolved_.problem.dims; ++d) {
    Count spread = 1;
    for (int l = 0; l < resolved_.problem.levels; ++l) spread *= spatial_.factor[l][d];
    steps *= static_cast<double>(boxes_.axis(stages() - 1, d).states[at[d]].tile / spread);
  }
  return at_least<"L10.1">(std::max(steps, this->steps()), this->steps());
}

std::vector<double> Lattice::least_by_pair(const Functional& functional) const {
  std::vector<double> least;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    least.push_back(costs_.least(pairs_[i], functional.weights[i]) + costs_.begun(pairs_[i], functional.weights[i]));
  }
  return least;
}

double Lattice::still_to_pay(int k, const Status& status, const std::vector<double>& least) const {
  double cost = 0;
  for (int x = 0; x < resolved_.problem.tensors; ++x) {
    for (std::size_t j = 0; j < pairs_of_[x].size(); ++j) {
      const int pair = pairs_of_[x][j];
      const bool pending = status[x] != 0 && static_cast<int>(j) >= first_pending(status[x]);
      if (pending || pairs_[pair].child <= resolved_.memories[k]) cost += least[pair];
    }
  }
  return at_least<"L7.1">(cost, std::min(0.0, cost));
}

Lattice::Values Lattice::run_memory(int k, const Functional& functional, const Values& before) const {
  Charges charges;
  Values done;
  for (const std::vector<DimSet>& groups : resolved_.orders[k].sequences) {
    if (over()) break;
    Values values = before;
    for (const DimSet group : groups) run_group(k, group, functional, values, charges);
    for (auto& [status, array] : values) merge(done, status, std::move(array));
  }
  return end_memory(k, functional, std::move(done), charges);
}

Lattice::Values Lattice::end_memory(int k, const Functional& functional, Values values, Charges& charges) const {
  // What does not fit goes; in quickflow's model runs end at the parent.
  Values ended;
  const auto size = static_cast<std::size_t>(boxes_.size(k));
  for (auto& [status, array] : values) {
    if (over()) break;
    Status after = status;
    for (int x = 0; x < resolved_.problem.tensors; ++x) {
      if (!resolved_.ends_at_parent(x) || !contains(keeps_[resolved_.memories[k]], x) || status[x] == 0) continue;
      add_into(array.data(), charged(k, x, status[x], -1, functional, charges), size);
      after[x] = 0;
    }
    if (!boxes_.misfit(k).empty()) add_into(array.data(), boxes_.misfit(k).data(), size);
    if (k > 0 || !resolved_.compute_runs) {
      merge(ended, after_boundary(k, after, 0), std::move(array));
      continue;
    }
    for (std::size_t node = 0; node < size; ++node) {  // the status depends on the node
      if (array[node] == kInfinity) continue;
      auto [entry, fresh] = ended.try_emplace(after_boundary(k, after, static_cast<int>(node)));
      if (fresh) entry->second = Array(store_, size, kInfinity);
      entry->second[node] = std::min(entry->second[node], array[node]);
    }
  }
  return ended;
}

Lattice::Tables Lattice::solve(const Functional& functional, double limit) const {
  const std::vector<double> least = least_by_pair(functional);
  Tables tables;
  tables.before.resize(static_cast<std::size_t>(stages()));
  tables.best = kInfinity;
  Array start(store_, static_cast<std::size_t>(boxes_.size(0)), kInfinity);
  start[static_cast<std::size_t>(boxes_.initial_node())] = 0;
  tables.before[0].emplace(initial_, std::move(start));
  const int last = stages() - 1;
  std::size_t starts = 1;
  for (int k = 0; k <= last; ++k) {
    too_large_ |= work_.too_large(static_cast<double>(store_.bytes_in_use()));
    if (over() || too_large()) return tables;
    boxes_.complete(k);
    const std::size_t nodes = tables.before[k].size() * static_cast<std::size_t>(boxes_.size(k));
    work_.work(nodes);
    if (k == last && static_cast<double>(starts) < kFewStarts * static_cast<double>(nodes)) {
      tables.best = at_least<"L6.1">(cheapest_end(*this, functional, limit, tables), this->least(functional));
      return tables;
    }
    const Values ended = run_memory(k, functional, tables.before[k]);
    if (over()) return tables;
    if (k == last) {
      tables.best = at_least<"L6.1">(least_at_end(functional, ended), this->least(functional));
      return tables;
    }
    starts = 0;
    for (const auto& [status, array] : ended) {
      if (over()) return tables;
      const double most = limit - functional.constant - still_to_pay(k, status, least);
      Array outer;
      for (std::size_t node = 0; node < array.size(); ++node) {
        if (!(array[node] < most) || boxes_.left_out(k, node)) continue;
        const int outside = boxes_.outside(k)[node];
        if (outside < 0) continue;
        if (outer.empty()) outer = Array(store_, static_cast<std::size_t>(boxes_.size(k + 1)), kInfinity);
        double& target = outer[static_cast<std::size_t>(outside)];
        if (target == kInfinity) ++starts;
        target = std::min(target, array[node]);
      }
      if (!outer.empty()) tables.before[k + 1].emplace(status, std::move(outer));
    }
    if (tables.before[k + 1].empty()) return tables;
  }
  return tables;
}

ChargeTables Lattice::charge_tables(int k, int tensor, int pending, int slide, const Functional& functional) const {
  const ChargePlace place{resolved_, spatial_, boxes_.axes(), costs_, k, tensor, slide, known_windows_};
  ChargeTables tables(place, pairs_, pending_pairs(k, tensor, pending), functional, repetitions(tensor, pending));
  work_.work(effort::kTables + (grouped() ? effort::kWindowOfGroup : effort::kWindow) * tables.cells());
  return tables;
}

bool Lattice::slides(int k, int tensor, int pending, int dim) const {
  if (!contains(resolved_.problem.sliding[tensor], dim)) return false;
  if (!resolved_.compute_runs) return true;  // then no transfer to the units ever waits
  // The outermost pending transfer whose child lies inside this memory.
  int child = resolved_.problem.levels;
  for (auto j = static_cast<std::size_t>(first_pending(pending)); j < pairs_of_[tensor].size(); ++j)
    if (pairs_[pairs_of_[tensor][j]].child > resolved_.memories[k]) child = pairs_[pairs_of_[tensor][j]].child;
  return child < resolved_.problem.levels;
}

double Lattice::least(const Functional& functional) const {
  double total = functional.constant;
  for (const double cost : least_by_pair(functional)) total += cost;
  return total;
}

double Lattice::least_at_end(const Functional& functional, const Values& ended) const {
  const std::vector<int> ends = boxes_.final_nodes();
  PendingCosts known;
  double best = kInfinity;
  for (const auto& [status, array] : ended) {
    const double pending = pending_at_end(status, functional, known) + functional.constant;
    for (const int node : ends) best = std::min(best, array[static_cast<std::size_t>(node)] + pending);
  }
  return best;
}

double Lattice::pending_at_end(const Status& status, const Functional& functional, PendingCosts& known) const {
  // Nothing outside is left to move the tile: one delivery.
  const int k = stages() - 1;
  double cost = 0;
  for (int x = 0; x < resolved_.problem.tensors; ++x) {
    const int pending = status[x];
    if (pending == 0) continue;
    auto entry = std::find_if(known[x].begin(), known[x].end(), [&](const auto& one) { return one.first == pending; });
    if (entry == known[x].end()) {
      std::array<std::vector<int>, kMaxDims> ends;
      for (int d = 0; d < resolved_.problem.dims; ++d)
        for (std::size_t i = 0; i < boxes_.axis(k, d).states.size(); ++i)
          if (boxes_.axis(k, d).may_end[i]) ends[d].push_back(static_cast<int>(i));
      known[x].emplace_back(pending, charge_tables(k, x, pending, -1, functional).least(ends));
      entry = known[x].end() - 1;
    }
    cost += entry->second;
  }
  return cost;
}

}  // namespace pliant::exact
