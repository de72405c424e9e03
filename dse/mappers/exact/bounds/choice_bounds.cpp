// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/bounds/choice_bounds.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "dse/mappers/exact/bounds/unrolling_bounds.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/task/tolerances.h"
#include "dse/mappers/exact/words/windows.h"

namespace pliant::exact {

namespace {

/// Costs are remembered on accelerators of at most so many fanouts, for at most so many sorts of unrollings.
constexpr int kMostKnownFanouts = 4;

/// Costs are remembered for at most so many sorts of unrollings.
constexpr std::size_t kMostKnown = 1024;

/// Keep choices are listed one by one where there are at most so many.
constexpr std::size_t kMostListed = 512;

}  // namespace

ChoiceBounds::ChoiceBounds(const ResolvedTask& resolved)
    : resolved_(resolved), p_(resolved.problem), growths_(resolved) {
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
    for (int x = 0; x < p_.tensors; ++x) smallest_[x][l] = at_least<"L3.9">(words_of_tile(p_, x, smallest), 0);
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

TensorSet ChoiceBounds::kept_at(const Chosen& chosen, int level) const {
  TensorSet kept = 0;
  for (int x = 0; x < p_.tensors; ++x) kept |= TensorSet{chosen[x]->levels >> level & 1U} << x;
  return kept;
}

std::array<TensorSet, kMaxLevels> ChoiceBounds::kept(const Chosen& chosen) const {
  std::array<TensorSet, kMaxLevels> kept{};
  for (const int l : resolved_.memories) kept[l] = kept_at(chosen, l);
  return kept;
}

bool ChoiceBounds::fits(const Chosen& chosen, const HeldWords& held) const {
  return std::ranges::none_of(resolved_.memories, [&](int l) {
    const MemoryRules& memory = resolved_.rules.memory(l);
    return memory.is_limited() && memory.overflows(kept_at(chosen, l), [&](int x) { return held[x][l]; });
  });
}

double ChoiceBounds::with_steps(const SharedBound& least, double steps) const {
  return value(least.energy, std::max(steps, least.port_cycles), steps);
}

std::size_t ChoiceBounds::HashOfUnits::operator()(const Units& units) const {
  std::size_t hash = 0;
  for (const Count count : units) {
    if (count == 0) break;  // no fanout any more
    hash = hash * 1'000'003 + static_cast<std::size_t>(count);
  }
  return hash;
}

/// With perfect factors the copies of a tensor without windows are the units along dims that it does not use, whichever
/// dims these are, and its words do not depend on which of its own dims are spread, nor over how many units. So
/// unrollings with as many units along the dims that it does not use, at every fanout, cost the same energy. Ports have
/// a share of their load at each unit, and a systolic array counts steps, which are MACs over all units: there the
/// other units must be as many, too. (Operands that stay at the compute units tell their dims apart, and so do outputs
/// that finish at some units only.)
ChoiceBounds::Known& ChoiceBounds::known_by_units(int x, const Spatial& spatial) {
  if (known_by_units_[x]) {
    Units units{};
    std::size_t i = 0;
    const DimSet all = (only(p_.dims)) - 1, coupled = p_.coupled[x];
    for (const int l : members(p_.fanouts)) {
      const std::array<Count, kMaxDims>& factor = spatial.factor[l];
      const auto along = [&](DimSet dims) {
        Count product = 1;
        for (; dims != 0; dims &= dims - 1) product *= factor[std::countr_zero(dims)];
        return product;
      };
      units[i++] = along(all & ~coupled);
      if (!p_.ports.empty()) units[i++] = along(coupled);
    }
    const auto found = known_[x].find(units);
    if (found != known_[x].end()) return found->second;
    if (known_[x].size() < kMostKnown) return known_[x][units];
  }
  own_[x].energy = own_[x].ports = false;
  return own_[x];
}

/// L16.7
double ChoiceBounds::least_steps_of(const Spatial& spatial) const {
  const double steps = least_steps(resolved_.task, p_, spatial);
  if (spatial.open == 0) return steps;
  return std::max(p_.busy_cycles, steps / open_units(resolved_, spatial, spatial.open) * (1 - kRoundingOfFloors));
}

ChoiceBounds::Looked ChoiceBounds::look_at(const Spatial& spatial, double limit) {
  std::optional<Costs> made;
  const auto costs = [&]() -> const Costs& { return made ? *made : made.emplace(resolved_, spatial); };
  std::array<Known*, kMaxTensors> known{};
  const double steps = least_steps_of(spatial);
  // Energies add up by tensor: what is known of the first, and the floors of the others.
  double energy = floor_;
  for (int x = 0; x < p_.tensors; ++x) {
    known[x] = &known_by_units(x, spatial);
    const bool fresh = !known[x]->energy;
    if (fresh) {
      known[x]->costs.resize(costs_of_[x]);
      known[x]->least = kInfinity;
      for (const Pattern& pattern : patterns_[x]) {
        charge(costs(), pattern, 0, known[x]->costs.data());
        known[x]->least = std::min(known[x]->least, known[x]->costs[pattern.costs]);
      }
      known[x]->energy = true;
    }
    energy += known[x]->least - floor_of_[x];
    if (!fresh && x + 1 < p_.tensors) continue;
    const double least = value(energy, steps, steps);
    if (least >= limit) return {least, nullptr};
  }
  for (int x = 0; x < p_.tensors; ++x) {
    if (p_.ports.empty() || known[x]->ports) continue;
    for (const Pattern& pattern : patterns_[x])
      for (std::size_t f = 1; f < functionals(); ++f) charge(costs(), pattern, f, known[x]->costs.data());
    known[x]->ports = true;
  }
  if (last_.use_count() != 1) last_ = std::make_shared<UnrollingBounds>(*this);
  last_->begin(steps);
  for (int x = 0; x < p_.tensors; ++x) {
    if (known[x] == &own_[x]) last_->own_costs_[x].swap(own_[x].costs);
    last_->costs_[x] = known[x] == &own_[x] ? last_->own_costs_[x].data() : known[x]->costs.data();
  }
  const double least = last_->least();
  if (least >= limit) return {least, nullptr};
  last_->spatial_ = spatial;
  return {least, last_};
}

void ChoiceBounds::charge(const Costs& costs, const Pattern& pattern, std::size_t f, double* known) {
  double total = f == 0 ? costs.energy(pattern.pairs, weights_.data())
                        : costs.port(p_.ports[f - 1], pattern.pairs, weights_.data());
  double all_begun = 0;
  double* const deliveries = known + delivery_at(pattern, 0, f);
  for (std::size_t j = 0; j < pattern.pairs.size(); ++j) {
    const KeeperPair& pair = pattern.pairs[j];
    total += costs.no_more_firsts_than_words(pair, weights_[j]);
    const double least = costs.least(pair, weights_[j]), begun = costs.begun(pair, weights_[j]);
    total += least + begun;
    all_begun += begun;
    const bool alike = resolved_.perfect && pair.child == p_.levels;
    const Costs::Delivery once = alike ? Costs::Delivery{least, 0, 0} : costs.delivery(pair, weights_[j]);
    deliveries[3 * j] = once.round;
    deliveries[3 * j + 1] = once.asked;
    deliveries[3 * j + 2] = once.unit;
    if (f > 0) continue;
    double* const copies = known + delivery_at(pattern, 0, functionals()) + 2 * j;
    copies[0] = costs.asking_copies(pair, true);
    copies[1] = costs.busy_copies(pair.tensor, pair.child);
  }
  known[pattern.costs + f] = total;
  known[pattern.costs + functionals() + f] = all_begun;
}

}  // namespace pliant::exact
