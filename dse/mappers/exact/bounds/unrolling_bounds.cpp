// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/bounds/unrolling_bounds.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "dse/mappers/exact/bounds/border_tiles.h"
#include "dse/mappers/exact/bounds/shared_capacity.h"

namespace pliant::exact {

namespace {

/// A port that takes less than this share of the cycles when everything is moved once is not taken to bind.
constexpr double kMayBind = 0.2;

}  // namespace

UnrollingBounds::UnrollingBounds(ChoiceBounds& all) : all_(all), resolved_(all.resolved_), p_(all.p_) {}

void UnrollingBounds::begin(double steps) {
  steps_ = steps;
  tiling_.reset();
}

double UnrollingBounds::least_of(int x, std::size_t functional) const {
  double best = kInfinity;
  for (const Pattern& pattern : all_.patterns_[x]) best = std::min(best, least_of(pattern, functional));
  return best;
}

double UnrollingBounds::port_cycles() const {
  double cycles = 0;
  for (std::size_t f = 1; f <= p_.ports.size(); ++f) {
    double total = 0;
    for (int x = 0; x < p_.tensors; ++x) total += least_of(x, f);
    cycles = std::max(cycles, total);
  }
  return cycles;
}

double UnrollingBounds::least_energy() const {
  const double macs = p_.macs * p_.mac_pj;
  if (all_.all_may_fit_) {
    double energy = macs;
    for (int x = 0; x < p_.tensors; ++x) energy += least_of(x, 0);
    return energy;
  }
  std::fill(all_.energies_.begin(), all_.energies_.end(), macs);
  for (int x = 0; x < p_.tensors; ++x) {
    const double* const costs = costs_[x];
    const std::uint32_t* const place = all_.fitting_[x].data();
    for (std::size_t i = 0; i < all_.energies_.size(); ++i) all_.energies_[i] += costs[place[i]];
  }
  double best = kInfinity;
  for (const double energy : all_.energies_) best = std::min(best, energy);
  return best;
}

std::vector<double> UnrollingBounds::costs() const {
  std::vector<double> all;
  for (int x = 0; x < p_.tensors; ++x) all.insert(all.end(), costs_[x], costs_[x] + all_.costs_of_[x]);
  return all;
}

double UnrollingBounds::least() const { return value(least_energy(), std::max(steps_, port_cycles())); }

double UnrollingBounds::shared(const Chosen& chosen, const Mix& mix, const Enough& enough) const {
  double once = mix.energy * (p_.macs * p_.mac_pj), certain = 0;
  for (int x = 0; x < p_.tensors; ++x) {
    once += mix.energy * least_of(*chosen[x], 0) + mix.load * least_of(*chosen[x], mix.port);
    certain += mix.energy * begun(*chosen[x], 0) + mix.load * begun(*chosen[x], mix.port);
  }
  const auto with = [&](double capacity) { return once + std::max(0.0, capacity - certain); };
  return with(
      SharedCapacity(*this).least(chosen, mix, [&](double capacity) { return enough && enough(with(capacity)); }));
}

double UnrollingBounds::shared(std::size_t keep_choice, const Mix& mix) const {
  return shared(all_.patterns(keep_choice), mix);
}

/// What shared capacity makes of the ports that may bind.
UnrollingBounds::Longest UnrollingBounds::longest_port(const Chosen& chosen, double cycles) const {
  Longest longest;
  for (std::size_t f = 1; f < all_.functionals(); ++f) {
    double once = 0;
    for (int x = 0; x < p_.tensors; ++x) once += least_of(*chosen[x], f);
    if (once < kMayBind * cycles) continue;
    const double load = shared(chosen, {0, f, 1});
    if (load > longest.load) longest = {f, load};
  }
  return longest;
}

UnrollingBounds::Shared UnrollingBounds::moved_once(const Chosen& chosen, double cycles) const {
  double energy = p_.macs * p_.mac_pj;
  for (int x = 0; x < p_.tensors; ++x) energy += least_of(*chosen[x], 0);
  return {value(energy, cycles), energy, cycles, cycles > steps_ ? cycles : 0};
}

UnrollingBounds::Shared UnrollingBounds::inside_open(const Chosen& chosen, double cycles, double limit) const {
  Shared bound = moved_once(chosen, cycles);
  for (int k = static_cast<int>(resolved_.memories.size()) - 2; k >= 0 && bound.value < limit; --k)
    if (spatial_.open >> resolved_.memories[static_cast<std::size_t>(k)] == 0)
      bound.value = std::max(bound.value, least_of_border_tiles(*this, chosen, k, cycles, limit));
  return bound;
}

/// The sharpest that needs no lattice. With remainders the tiles of the units' memories come first, for they close the
/// most; with perfect factors tables take hardly longer.
UnrollingBounds::Shared UnrollingBounds::shared_value(const Chosen& chosen, double cycles, double limit) const {
  if (spatial_.open != 0) return inside_open(chosen, cycles, limit);
  if (resolved_.perfect) return by_functionals(chosen, cycles, limit);
  int k = static_cast<int>(resolved_.memories.size()) - 2;
  while (k >= 0 && p_.capacity[resolved_.memories[static_cast<std::size_t>(k)]] == kInfinity) --k;
  double least = 0;
  for (int inner = k - 1; inner >= 0 && least < limit; --inner)
    least = std::max(least, least_of_border_tiles(*this, chosen, inner, cycles, limit));
  if (least >= limit) {
    Shared bound = moved_once(chosen, cycles);
    bound.value = least;
    return bound;
  }
  Shared bound = by_functionals(chosen, cycles, limit);
  if (bound.value < limit && k >= 0)
    least = std::max(least, least_of_border_tiles(*this, chosen, k, bound.cycles, limit));
  bound.value = std::max(bound.value, least);
  return bound;
}

/// The objective from what shared capacity makes of energy, of the ports that may bind, and of energy and the longest
/// of these together.
UnrollingBounds::Shared UnrollingBounds::by_functionals(const Chosen& chosen, double cycles, double limit) const {
  Shared bound{0, 0, cycles, cycles > steps_ ? cycles : 0};
  const auto enough = [&](double energy) { return value(energy, cycles) >= limit; };
  bound.energy = shared(chosen, {1, 0, 0}, std::cref(enough));  // a copy would be too large to be kept without a heap
  bound.value = value(bound.energy, cycles);
  if (bound.value >= limit || p_.ports.empty()) return bound;
  const Longest longest = longest_port(chosen, cycles);
  if (longest.port == 0) return bound;
  bound.port_cycles = std::max(bound.port_cycles, longest.load);
  bound.cycles = std::max(cycles, longest.load);
  bound.value = value(bound.energy, bound.cycles);
  if (bound.value >= limit) return bound;
  const double slope = bound.energy > 0 ? bound.energy / longest.load : 1;
  Region region(std::max(bound.energy, all_.floor_), std::max(bound.cycles, all_.floor_cycles_));
  region.cut(slope, shared(chosen, {1, longest.port, slope}));
  bound.value = region.least(p_, resolved_.task, steps_);
  return bound;
}

template <typename Visit>
void UnrollingBounds::each_keep_below(const double& limit, const Visit& visit) const {
  // The tensors' least shares still to come.
  std::array<double, kMaxTensors + 1> to_come{};
  for (int x = p_.tensors - 1; x >= 0; --x) to_come[x] = to_come[x + 1] + least_of(x, 0);
  Chosen chosen{};
  const auto choose = [&](auto&& self, int x, std::size_t choice, std::size_t radix, double energy) -> void {
    if (x == p_.tensors) {
      if (!all_.fits(chosen, tiling().held)) return;
      double cycles = steps_;
      for (std::size_t f = 1; f < all_.functionals(); ++f) {
        double load = 0;
        for (int y = 0; y < p_.tensors; ++y) load += least_of(*chosen[y], f);
        cycles = std::max(cycles, load);
      }
      if (value(energy, cycles) < limit) visit(chosen, choice, cycles);
      return;
    }
    for (std::size_t i = 0; i < all_.patterns_[x].size(); ++i) {
      chosen[x] = &all_.patterns_[x][i];
      const double more = energy + least_of(*chosen[x], 0);
      if (value(more + to_come[x + 1], steps_) >= limit) continue;
      self(self, x + 1, choice + i * radix, radix * all_.patterns_[x].size(), more);
    }
  };
  choose(choose, 0, 0, 1, p_.macs * p_.mac_pj);
}

void UnrollingBounds::keeps_below(const double& limit,
                                  const std::function<void(std::size_t, const Shared&)>& visit) const {
  each_keep_below(limit, [&](const Chosen& chosen, std::size_t choice, double cycles) {
    visit(choice, shared_value(chosen, cycles, limit));
  });
}

UnrollingBounds::Shared UnrollingBounds::least_shared(double limit) const {
  Shared least{kInfinity, kInfinity, kInfinity, kInfinity};
  each_keep_below(limit, [&](const Chosen& chosen, std::size_t, double cycles) {
    const Shared one = shared_value(chosen, cycles, limit);
    least = {std::min(least.value, one.value), std::min(least.energy, one.energy), std::min(least.cycles, one.cycles),
             std::min(least.port_cycles, one.port_cycles)};
  });
  return least;
}

}  // namespace pliant::exact
