// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/bounds/choice_bounds.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/arithmetic.h"
#include "dse/mappers/exact/lattice/windows.h"
#include "flex/mapspace/factors.h"

namespace pliant::exact {

ChoiceBounds::ChoiceBounds(const ResolvedTask& resolved) : resolved_(resolved), p_(resolved.problem) {
  floor_ = p_.macs * p_.mac_pj;
  std::size_t costs = 0;
  patterns_.resize(static_cast<std::size_t>(p_.tensors));
  for (int x = 0; x < p_.tensors; ++x) {
    double nearest = kInfinity;
    for (const std::uint32_t levels : keep_patterns(resolved_.rules, x)) {
      Pattern pattern;
      pattern.levels = levels;
      int child = p_.levels;
      for (const int l : resolved_.memories) {
        if (!(levels >> l & 1U)) continue;
        pattern.pairs.push_back({x, l, child});
        child = l;
      }
      pattern.staying = resolved_.staying(x, pattern.pairs.front().parent);
      pattern.costs = costs;
      costs += 2 + p_.ports.size() + pattern.pairs.size();
      // Whatever shares words between the compute units and their memory shares them at most between all units.
      const int keeper = pattern.pairs.front().parent;
      double units = 1;
      for (int l = keeper + 1; l < p_.levels; ++l)
        if (!p_.is_memory[l]) units *= static_cast<double>(p_.accelerator.levels[l].fanout().units());
      if (resolved_.compute_runs) units = kInfinity;
      const double pj = least_words(x, keeper) * (x == p_.output ? p_.update_pj[keeper] : p_.read_pj[keeper]);
      nearest = std::min(nearest, p_.macs / units * pj + energy_outside_fanouts(x, pattern.pairs));
      patterns_[x].push_back(std::move(pattern));
    }
    floor_of_[x] = nearest;
    floor_ += nearest;
    keep_choices_ *= patterns_[x].size();
  }
  look_.costs.resize(costs);
  floor_cycles_ = cycles_outside_fanouts();
}

/// Words of a memory that an element takes; no output takes less than a finished one.
double ChoiceBounds::least_words(int x, int level) const {
  return p_.element_words[level][x] - (x == p_.output ? p_.finished_saves[level] : 0);
}

int ChoiceBounds::first_fanout() const {
  int level = 0;
  while (level < p_.levels && p_.is_memory[level]) ++level;
  return level;
}

/// Whatever the unrolling, outside all fanouts every element of an operand leaves its keeper at least once, and arrives
/// at the next; every result arrives. (Words towards the compute units are counted elsewhere.)
double ChoiceBounds::energy_outside_fanouts(int x, std::span<const KeeperPair> pairs) const {
  const int fanout = first_fanout();
  double energy = 0;
  for (const KeeperPair& pair : pairs) {
    if (pair.parent >= fanout || pair.child == p_.levels) continue;
    energy += least_words(x, pair.parent) * (x == p_.output ? p_.update_pj[pair.parent] : p_.read_pj[pair.parent]);
    if (x != p_.output && pair.child < fanout) energy += least_words(x, pair.child) * p_.write_pj[pair.child];
  }
  return energy * p_.tensor_words[x];
}

/// The load of the ports there by the same words.
double ChoiceBounds::cycles_outside_fanouts() const {
  const int fanout = first_fanout();
  double cycles = 0;
  for (const Port& port : p_.ports) {
    if (port.level >= fanout) continue;
    double words = 0;
    for (int x = 0; x < p_.tensors; ++x) {
      const bool reads = port.reads >> x & 1U, writes = port.writes >> x & 1U;
      int fewest = p_.levels;
      for (const Pattern& pattern : patterns_[x]) {
        int times = 0;
        for (const KeeperPair& pair : pattern.pairs) {
          if (pair.child == p_.levels) continue;
          if (pair.parent == port.level) times += x == p_.output ? writes : reads;
          if (pair.child == port.level && x != p_.output) times += writes;
        }
        fewest = std::min(fewest, times);
      }
      words += fewest * p_.tensor_words[x] * least_words(x, port.level);
    }
    cycles = std::max(cycles, words / port.bandwidth);
  }
  return cycles;
}

Keeps ChoiceBounds::keeps(std::size_t choice) const {
  Keeps keeps{};
  for (int x = 0; x < p_.tensors; ++x) {
    const Pattern& pattern = patterns_[x][choice % patterns_[x].size()];
    choice /= patterns_[x].size();
    for (int l = 0; l < p_.levels; ++l) keeps[l] |= (pattern.levels >> l & 1U) << x;
  }
  return keeps;
}

double ChoiceBounds::value(double energy, double cycles, double steps) const {
  return objective_bound(p_, resolved_.task, energy, cycles, steps);
}

double ChoiceBounds::floor(double steps) const { return value(floor_, std::max(steps, floor_cycles_), steps); }

double ChoiceBounds::words(int x, const std::array<double, kMaxDims>& tile) const {
  double product = 1;
  for (DimSet rest = p_.simple[x]; rest != 0; rest &= rest - 1) product *= tile[std::countr_zero(rest)];
  for (const Problem::AffineRank& rank : p_.affine[x]) product *= extent(p_, rank, tile, false);
  return product;
}

/// How much a tile can grow by temporal loops, and the iterations that are left outside it then: at least, with
/// remainders. Largest first; of tiles that leave the same iterations only the smallest.
const std::vector<ChoiceBounds::Growth>& ChoiceBounds::growths(int d, Count spread, Count duration) {
  auto [entry, fresh] = known_growths_.try_emplace({d, duration > 0 ? 1 : spread, duration});
  std::vector<Growth>& all = entry->second;
  if (!fresh) return all;
  if (resolved_.perfect || duration > 0) {
    const Count iterations = duration > 0 ? duration : resolved_.task.layer.dims[d].size / spread;
    for (const Count divisor : divisors(iterations))
      all.push_back({static_cast<double>(divisor), static_cast<double>(iterations / divisor)});
    std::reverse(all.begin(), all.end());
    return all;
  }
  const double iterations = std::max(1.0, p_.size[d] / static_cast<double>(spread));
  for (double left = 1;; ++left) {
    const double factor = std::ceil(iterations / left - 1e-9);
    if (all.empty() || factor < all.back().factor) all.push_back({factor, std::max(1.0, iterations / factor)});
    if (factor == 1) return all;
    if (all.size() > kMostTiles) {  // smaller tiles still: no better than the smallest possible
      all.push_back({1, iterations / factor});
      return all;
    }
    left = std::max(left, std::ceil(iterations / (factor - 1)) - 1);
  }
}

double ChoiceBounds::look_at(const Spatial& spatial, double limit) {
  const Costs costs(resolved_, spatial);
  look_.steps = costs.steps();
  // Energies add up by tensor: what is known of the first, and the floors of the others.
  double energy = floor_;
  const double cycles = std::max(look_.steps, floor_cycles_);
  for (int x = 0; x < p_.tensors; ++x) {
    for (const Pattern& pattern : patterns_[x]) charge_energy(costs, pattern);
    energy += least_of(x, 0) - floor_of_[x];
    const double least = value(energy, cycles, look_.steps);
    if (least >= limit) return least;
  }
  for (const std::vector<Pattern>& all : patterns_)
    for (const Pattern& pattern : all) charge_ports(costs, pattern);
  look_at_tiles(spatial);
  return least();
}

void ChoiceBounds::charge_energy(const Costs& costs, const Pattern& pattern) {
  std::array<Weights, kMaxLevels> weights;
  double* const known = &look_.costs[pattern.costs];
  double total = costs.energy(pattern.pairs, weights.data()), all_begun = 0;
  for (std::size_t j = 0; j < pattern.pairs.size(); ++j) {
    const double least = costs.least(pattern.pairs[j], weights[j]);
    const double begun = costs.begun(pattern.pairs[j], weights[j]);
    total += least + begun;
    all_begun += begun;
    const bool alike = resolved_.perfect && pattern.pairs[j].child == p_.levels;
    known[2 + p_.ports.size() + j] = alike ? least : costs.delivery(pattern.pairs[j], weights[j]);
  }
  known[0] = total;
  known[1 + p_.ports.size()] = all_begun;
}

void ChoiceBounds::charge_ports(const Costs& costs, const Pattern& pattern) {
  std::array<Weights, kMaxLevels> weights;
  for (std::size_t f = 1; f <= p_.ports.size(); ++f) {
    double total = costs.port(p_.ports[f - 1], pattern.pairs, weights.data());
    for (std::size_t j = 0; j < pattern.pairs.size(); ++j)
      total += costs.least(pattern.pairs[j], weights[j]) + costs.begun(pattern.pairs[j], weights[j]);
    look_.costs[pattern.costs + f] = total;
  }
}

void ChoiceBounds::look_at_tiles(const Spatial& spatial) {
  for (int d = 0; d < p_.dims; ++d) {
    Count spread = 1;
    for (int l = 0; l < p_.levels; ++l) spread *= spatial.factor[l][d];
    const Count duration = spatial.durations[d];
    look_.temporal[d] =
        duration > 0 ? static_cast<double>(duration) : std::max(1.0, p_.size[d] / static_cast<double>(spread));
    look_.growths[d] = &growths(d, spread, duration);
  }
  std::array<double, kMaxDims> inside;
  inside.fill(1);
  for (int l = p_.levels - 1; l >= 0; --l) {
    if (!p_.is_memory[l]) {
      for (int d = 0; d < p_.dims; ++d)
        inside[d] = std::min(inside[d] * static_cast<double>(spatial.factor[l][d]), p_.size[d]);
      continue;
    }
    look_.inside[l] = inside;
    if (p_.capacity[l] == kInfinity) continue;
    for (int x = 0; x < p_.tensors; ++x)
      if (p_.may_keep[l] >> x & 1U) look_.held[x][l] = words(x, inside);
  }
}

double ChoiceBounds::least_of(int x, std::size_t functional) const {
  double best = kInfinity;
  for (const Pattern& pattern : patterns_[x]) best = std::min(best, least_of(pattern, functional));
  return best;
}

double ChoiceBounds::port_cycles() const {
  double cycles = 0;
  for (std::size_t f = 1; f <= p_.ports.size(); ++f) {
    double total = 0;
    for (int x = 0; x < p_.tensors; ++x) total += least_of(x, f);
    cycles = std::max(cycles, total);
  }
  return cycles;
}

double ChoiceBounds::least() const {
  double energy = p_.macs * p_.mac_pj;
  for (int x = 0; x < p_.tensors; ++x) energy += least_of(x, 0);
  return value(energy, std::max(look_.steps, port_cycles()), look_.steps);
}

bool ChoiceBounds::fits(const Chosen& chosen) const {
  for (const int l : resolved_.memories) {
    TensorSet kept = 0;
    for (int x = 0; x < p_.tensors; ++x) kept |= TensorSet{chosen[x]->levels >> l & 1U} << x;
    if (resolved_.rules.memory(l).overflows(kept, [&](int x) { return look_.held[x][l]; })) return false;
  }
  return true;
}

void ChoiceBounds::keeps_below(const double& limit, const std::function<void(std::size_t, double)>& visit) const {
  // The tensors' least shares still to come.
  std::array<double, kMaxTensors + 1> to_come{};
  for (int x = p_.tensors - 1; x >= 0; --x) to_come[x] = to_come[x + 1] + least_of(x, 0);
  Chosen chosen{};
  const auto choose = [&](auto&& self, int x, std::size_t choice, std::size_t radix, double energy) -> void {
    if (x == p_.tensors) {
      if (!fits(chosen)) return;
      double cycles = look_.steps;
      for (std::size_t f = 1; f <= p_.ports.size(); ++f) {
        double load = 0;
        for (int y = 0; y < p_.tensors; ++y) load += least_of(*chosen[y], f);
        cycles = std::max(cycles, load);
      }
      if (value(energy, cycles, look_.steps) >= limit) return;
      double certain = 0;
      for (int y = 0; y < p_.tensors; ++y) certain += begun(*chosen[y]);
      const auto with = [&](double shared) {
        return value(energy + std::max(0.0, shared - certain), cycles, look_.steps);
      };
      visit(choice, with(shared_capacity(chosen, [&](double shared) { return with(shared) >= limit; })));
      return;
    }
    for (std::size_t i = 0; i < patterns_[x].size(); ++i) {
      chosen[x] = &patterns_[x][i];
      const double more = energy + least_of(*chosen[x], 0);
      if (value(more + to_come[x + 1], look_.steps, look_.steps) >= limit) continue;
      self(self, x + 1, choice + i * radix, radix * patterns_[x].size(), more);
    }
  };
  choose(choose, 0, 0, 1, p_.macs * p_.mac_pj);
}

}  // namespace pliant::exact
