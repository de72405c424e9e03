// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/bounds/choice_bounds.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/arithmetic.h"
#include "dse/mappers/exact/lattice/windows.h"

namespace pliant::exact {

namespace {

/// A port that takes less than this share of the cycles when everything is moved once is not taken to bind.
constexpr double kMayBind = 0.2;

/// Costs are remembered on accelerators of at most so many fanouts, for at most so many sorts of unrollings.
constexpr int kMostKnownFanouts = 4;

/// Keep choices are listed one by one where there are at most so many.
constexpr std::size_t kMostListed = 512;

}  // namespace

ChoiceBounds::ChoiceBounds(const ResolvedTask& resolved) : resolved_(resolved), p_(resolved.problem) {
  floor_ = p_.macs * p_.mac_pj;
  patterns_.resize(static_cast<std::size_t>(p_.tensors));
  for (int x = 0; x < p_.tensors; ++x) {
    double nearest = kInfinity;
    std::size_t costs = 0;
    known_by_units_[x] = resolved_.perfect && p_.affine[x].empty() && std::popcount(p_.fanouts) <= kMostKnownFanouts;
    // An index such as Q + S may use S without windows, where Q has one iteration; it is summed along all the same.
    known_by_units_[x] &= x != p_.output || (p_.summing & p_.coupled[x]) == 0;
    for (const std::uint32_t levels : keep_patterns(resolved_.rules, x)) {
      Pattern pattern;
      pattern.levels = levels;
      pattern.tensor = x;
      int child = p_.levels;
      for (const int l : resolved_.memories) {
        if (!(levels >> l & 1U)) continue;
        pattern.pairs.push_back({x, l, child});
        child = l;
      }
      pattern.staying = resolved_.staying(x, pattern.pairs.front().parent);
      known_by_units_[x] &= pattern.staying == 0;
      pattern.costs = costs;
      costs = delivery_at(pattern, 0, functionals()) + 2 * pattern.pairs.size();
      // Whatever shares words between the compute units and their memory shares them at most between all units.
      const int keeper = pattern.pairs.front().parent;
      double units = 1;
      for (int l = keeper + 1; l < p_.levels; ++l)
        if (!p_.is_memory[l]) units *= static_cast<double>(p_.accelerator.levels[l].fanout().units());
      if (resolved_.compute_runs) units = kInfinity;
      const double pj = least_words(x, keeper) * (x == p_.output ? p_.update_pj[keeper] : p_.read_pj[keeper]);
      // Every element is asked for, every result arrives.
      const double words = std::max(p_.macs / units, p_.tensor_words[x]);
      nearest = std::min(nearest, words * pj + energy_outside_fanouts(x, pattern.pairs));
      patterns_[x].push_back(std::move(pattern));
    }
    costs_of_[x] = costs;
    floor_of_[x] = nearest;
    floor_ += nearest;
    keep_choices_ *= patterns_[x].size();
  }
  floor_cycles_ = cycles_outside_fanouts();
  list_fitting();
}

/// What overflows a memory with the smallest tiles overflows it with any.
void ChoiceBounds::list_fitting() {
  std::array<double, kMaxDims> smallest;
  smallest.fill(1);
  for (const int l : resolved_.memories) {
    for (int x = 0; x < p_.tensors; ++x) look_.held[x][l] = words(x, smallest);
    const MemoryRules& memory = resolved_.rules.memory(l);
    all_may_fit_ &= !memory.overflows(memory.may_keep, [&](int x) { return look_.held[x][l]; });
  }
  all_may_fit_ |= keep_choices_ > kMostListed;
  if (all_may_fit_) return;
  for (std::size_t choice = 0; choice < keep_choices_; ++choice) {
    const Chosen chosen = patterns(choice);
    if (!fits(chosen)) continue;
    for (int x = 0; x < p_.tensors; ++x) fitting_[x].push_back(static_cast<std::uint32_t>(chosen[x]->costs));
  }
  energies_.resize(fitting_[0].size());
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

ChoiceBounds::Chosen ChoiceBounds::patterns(std::size_t keep_choice) const {
  Chosen chosen{};
  for (int x = 0; x < p_.tensors; ++x) {
    chosen[x] = &patterns_[x][keep_choice % patterns_[x].size()];
    keep_choice /= patterns_[x].size();
  }
  return chosen;
}

double ChoiceBounds::value(double energy, double cycles, double steps) const {
  return objective_bound(p_, resolved_.task, energy, cycles, steps);
}

double ChoiceBounds::floor(double steps) const { return floor(floor_, steps); }

double ChoiceBounds::most_steps(const std::function<bool(double)>& hopeless) const {
  double low = 0, high = 1;
  while (!hopeless(floor(high)))
    if ((high *= 16) > 1e300) return kInfinity;
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    (hopeless(floor(middle)) ? high : low) = middle;
  }
  return high;
}

double ChoiceBounds::words(int x, const std::array<double, kMaxDims>& tile) const {
  double product = 1;
  for (DimSet rest = p_.simple[x]; rest != 0; rest &= rest - 1) product *= tile[std::countr_zero(rest)];
  for (const Problem::AffineRank& rank : p_.affine[x]) product *= extent(p_, rank, tile, false);
  return product;
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

double ChoiceBounds::least_energy() const {
  const double macs = p_.macs * p_.mac_pj;
  if (all_may_fit_) {
    double energy = macs;
    for (int x = 0; x < p_.tensors; ++x) energy += least_of(x, 0);
    return energy;
  }
  std::fill(energies_.begin(), energies_.end(), macs);
  for (int x = 0; x < p_.tensors; ++x) {
    const double* const costs = look_.costs[x];
    const std::uint32_t* const place = fitting_[x].data();
    for (std::size_t i = 0; i < energies_.size(); ++i) energies_[i] += costs[place[i]];
  }
  double best = kInfinity;
  for (const double energy : energies_) best = std::min(best, energy);
  return best;
}

double ChoiceBounds::least() const { return value(least_energy(), std::max(look_.steps, port_cycles()), look_.steps); }

bool ChoiceBounds::fits(const Chosen& chosen) const {
  for (const int l : resolved_.memories) {
    TensorSet kept = 0;
    for (int x = 0; x < p_.tensors; ++x) kept |= TensorSet{chosen[x]->levels >> l & 1U} << x;
    if (resolved_.rules.memory(l).overflows(kept, [&](int x) { return look_.held[x][l]; })) return false;
  }
  return true;
}

double ChoiceBounds::shared(const Chosen& chosen, const Mix& mix, const Enough& enough) const {
  double once = mix.energy * (p_.macs * p_.mac_pj), certain = 0;
  for (int x = 0; x < p_.tensors; ++x) {
    once += mix.energy * least_of(*chosen[x], 0) + mix.load * least_of(*chosen[x], mix.port);
    certain += mix.energy * begun(*chosen[x], 0) + mix.load * begun(*chosen[x], mix.port);
  }
  const auto with = [&](double capacity) { return once + std::max(0.0, capacity - certain); };
  return with(shared_capacity(chosen, mix, [&](double capacity) { return enough && enough(with(capacity)); }));
}

double ChoiceBounds::shared(std::size_t keep_choice, const Mix& mix) {
  look_at_tiles();
  return shared(patterns(keep_choice), mix);
}

/// What shared capacity makes of the ports that may bind.
ChoiceBounds::Longest ChoiceBounds::longest_port(const Chosen& chosen, double cycles) const {
  Longest longest;
  for (std::size_t f = 1; f < functionals(); ++f) {
    double once = 0;
    for (int x = 0; x < p_.tensors; ++x) once += least_of(*chosen[x], f);
    if (once < kMayBind * cycles) continue;
    const double load = shared(chosen, {0, f, 1});
    if (load > longest.load) longest = {f, load};
  }
  return longest;
}

/// The sharpest that needs no lattice. With remainders the tiles of the units' memories come first, for they close the
/// most; with perfect factors tables take hardly longer.
ChoiceBounds::Shared ChoiceBounds::shared_value(const Chosen& chosen, double cycles, double limit) const {
  if (resolved_.perfect) return by_functionals(chosen, cycles, limit);
  int k = static_cast<int>(resolved_.memories.size()) - 2;
  while (k >= 0 && p_.capacity[resolved_.memories[static_cast<std::size_t>(k)]] == kInfinity) --k;
  double least = 0;
  for (int inner = k - 1; inner >= 0 && least < limit; --inner)
    least = std::max(least, least_of_border_tiles(chosen, inner, cycles, limit));
  if (least >= limit) {
    double energy = p_.macs * p_.mac_pj;
    for (int x = 0; x < p_.tensors; ++x) energy += least_of(*chosen[x], 0);
    return {least, energy, cycles, cycles > look_.steps ? cycles : 0};
  }
  Shared bound = by_functionals(chosen, cycles, limit);
  if (bound.value < limit && k >= 0) least = std::max(least, least_of_border_tiles(chosen, k, bound.cycles, limit));
  bound.value = std::max(bound.value, least);
  return bound;
}

/// The objective from what shared capacity makes of energy, of the ports that may bind, and of energy and the longest
/// of these together.
ChoiceBounds::Shared ChoiceBounds::by_functionals(const Chosen& chosen, double cycles, double limit) const {
  const double steps = look_.steps;
  Shared bound{0, 0, cycles, cycles > steps ? cycles : 0};
  const auto enough = [&](double energy) { return value(energy, cycles, steps) >= limit; };
  bound.energy = shared(chosen, {1, 0, 0}, std::cref(enough));  // a copy would be too large to be kept without a heap
  bound.value = value(bound.energy, cycles, steps);
  if (bound.value >= limit || p_.ports.empty()) return bound;
  const Longest longest = longest_port(chosen, cycles);
  if (longest.port == 0) return bound;
  bound.port_cycles = std::max(bound.port_cycles, longest.load);
  bound.cycles = std::max(cycles, longest.load);
  bound.value = value(bound.energy, bound.cycles, steps);
  if (bound.value >= limit) return bound;
  const double slope = bound.energy > 0 ? bound.energy / longest.load : 1;
  Region region(bound.energy, bound.cycles);
  region.cut(slope, shared(chosen, {1, longest.port, slope}));
  bound.value = region.least(p_, resolved_.task, steps);
  return bound;
}

template <typename Visit>
void ChoiceBounds::each_keep_below(const double& limit, const Visit& visit) const {
  // The tensors' least shares still to come.
  std::array<double, kMaxTensors + 1> to_come{};
  for (int x = p_.tensors - 1; x >= 0; --x) to_come[x] = to_come[x + 1] + least_of(x, 0);
  Chosen chosen{};
  const auto choose = [&](auto&& self, int x, std::size_t choice, std::size_t radix, double energy) -> void {
    if (x == p_.tensors) {
      if (!fits(chosen)) return;
      double cycles = look_.steps;
      for (std::size_t f = 1; f < functionals(); ++f) {
        double load = 0;
        for (int y = 0; y < p_.tensors; ++y) load += least_of(*chosen[y], f);
        cycles = std::max(cycles, load);
      }
      if (value(energy, cycles, look_.steps) < limit) visit(chosen, choice, cycles);
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

void ChoiceBounds::keeps_below(const double& limit, const std::function<void(std::size_t, const Shared&)>& visit) {
  look_at_tiles();
  each_keep_below(limit, [&](const Chosen& chosen, std::size_t choice, double cycles) {
    visit(choice, shared_value(chosen, cycles, limit));
  });
}

ChoiceBounds::Shared ChoiceBounds::least_shared(double limit) {
  look_at_tiles();
  Shared least{kInfinity, kInfinity, kInfinity, kInfinity};
  each_keep_below(limit, [&](const Chosen& chosen, std::size_t, double cycles) {
    const Shared one = shared_value(chosen, cycles, limit);
    least = {std::min(least.value, one.value), std::min(least.energy, one.energy), std::min(least.cycles, one.cycles),
             std::min(least.port_cycles, one.port_cycles)};
  });
  return least;
}

double ChoiceBounds::with_steps(const Shared& least, double steps) const {
  return value(least.energy, std::max(steps, least.port_cycles), steps);
}

}  // namespace pliant::exact
