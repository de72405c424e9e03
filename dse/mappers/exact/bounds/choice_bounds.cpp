// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/bounds/choice_bounds.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/words/windows.h"

namespace pliant::exact {

namespace {

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
    known_by_units_[x] = resolved_.perfect && p_.affine[x].empty();
    // An index such as Q + S may use S without windows, where Q has one iteration; it is summed along all the same.
    known_by_units_[x] &= x != p_.output || (p_.summing & p_.coupled[x]) == 0;
    for (const std::uint32_t levels : keep_patterns(resolved_.rules, x)) {
      Pattern pattern;
      pattern.levels = levels;
      pattern.tensor = x;
      int child = p_.levels;
      for (const int l : resolved_.memories) {
        if (!contains(levels, l)) continue;
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
      const double words = at_least<"L2.1">(std::max(p_.macs / units, p_.tensor_words[x]), 0);
      nearest = std::min(nearest, words * pj + energy_outside_fanouts(x, pattern.pairs));
      patterns_[x].push_back(std::move(pattern));
    }
    known_by_units_[x] = sure<"L9.7">(known_by_units_[x]) && std::popcount(p_.fanouts) <= kMostKnownFanouts;
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
    for (int x = 0; x < p_.tensors; ++x) smallest_[x][l] = at_least<"L3.9">(words(x, smallest), 0);
    const MemoryRules& memory = resolved_.rules.memory(l);
    all_may_fit_ &= !memory.overflows(memory.may_keep, [&](int x) { return smallest_[x][l]; });
  }
  all_may_fit_ |= keep_choices_ > kMostListed;
  if (all_may_fit_) return;
  for (std::size_t choice = 0; choice < keep_choices_; ++choice) {
    const Chosen chosen = patterns(choice);
    if (!fits(chosen, smallest_)) continue;
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
  return at_least<"L2.2">(energy * p_.tensor_words[x], 0);
}

/// The load of the ports there by the same words.
double ChoiceBounds::cycles_outside_fanouts() const {
  const int fanout = first_fanout();
  double cycles = 0;
  for (const Port& port : p_.ports) {
    if (port.level >= fanout) continue;
    double words = 0;
    for (int x = 0; x < p_.tensors; ++x) {
      const bool reads = contains(port.reads, x), writes = contains(port.writes, x);
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
  return at_least<"L2.3">(cycles, 0);
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

/// Whatever a bound on energy subtracts, no mapping is below the floor.
double ChoiceBounds::value(double energy, double cycles, double steps) const {
  return objective_bound(p_, resolved_.task, std::max(energy, floor_), std::max(cycles, floor_cycles_), steps);
}

double ChoiceBounds::floor(double steps) const { return value(floor_, steps, steps); }

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
  for (const int d : members(p_.simple[x])) product *= tile[d];
  for (const Problem::AffineRank& rank : p_.affine[x]) product *= extent(p_, rank, tile, false);
  return product;
}

bool ChoiceBounds::fits(const Chosen& chosen, const HeldWords& held) const {
  for (const int l : resolved_.memories) {
    TensorSet kept = 0;
    for (int x = 0; x < p_.tensors; ++x) kept |= TensorSet{chosen[x]->levels >> l & 1U} << x;
    if (resolved_.rules.memory(l).overflows(kept, [&](int x) { return held[x][l]; })) return false;
  }
  return true;
}

double ChoiceBounds::with_steps(const SharedBound& least, double steps) const {
  return value(least.energy, std::max(steps, least.port_cycles), steps);
}

}  // namespace pliant::exact
