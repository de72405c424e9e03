// SPDX-License-Identifier: Apache-2.0
// What is made known of one unrolling after the other: the costs of the tensors' patterns, and how tiles can grow.
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "dse/mappers/exact/bounds/unrolling_bounds.h"
#include "dse/mappers/exact/chain/durations.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/task/tolerances.h"
#include "flex/mapspace/factors.h"

namespace pliant::exact {

namespace {

/// Costs are remembered for at most so many sorts of unrollings.
constexpr std::size_t kMostKnown = 1024;

}  // namespace

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

ChoiceBounds::Looked ChoiceBounds::look_at(const Spatial& spatial, double limit) {
  std::optional<Costs> made;
  const auto costs = [&]() -> const Costs& { return made ? *made : made.emplace(resolved_, spatial); };
  std::array<Known*, kMaxTensors> known{};
  const double steps = least_steps(resolved_.task, p_, spatial);
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
  auto bounds = std::make_shared<UnrollingBounds>(*this, spatial, steps);
  for (int x = 0; x < p_.tensors; ++x) {
    if (known[x] == &own_[x]) bounds->own_costs_[x] = std::move(own_[x].costs);
    bounds->costs_[x] = known[x] == &own_[x] ? bounds->own_costs_[x].data() : known[x]->costs.data();
  }
  const double least = bounds->least();
  if (least >= limit) return {least, nullptr};
  return {least, std::move(bounds)};
}

double ChoiceBounds::least_energy_of(int x, const Spatial& spatial) {
  const Costs costs(resolved_, spatial);
  scratch_.resize(costs_of_[x]);
  double least = kInfinity;
  for (const Pattern& pattern : patterns_[x]) {
    charge(costs, pattern, 0, scratch_.data());
    least = std::min(least, scratch_[pattern.costs]);
  }
  return least;
}

void ChoiceBounds::charge(const Costs& costs, const Pattern& pattern, std::size_t f, double* known) {
  double total = f == 0 ? costs.energy(pattern.pairs, weights_.data())
                        : costs.port(p_.ports[f - 1], pattern.pairs, weights_.data());
  double all_begun = 0;
  double* const deliveries = known + delivery_at(pattern, 0, f);
  for (std::size_t j = 0; j < pattern.pairs.size(); ++j) {
    const KeeperPair& pair = pattern.pairs[j];
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

/// How much a tile can grow by temporal loops, and the iterations that are left outside it then: at least, with
/// remainders. Largest first; of tiles that leave the same iterations only the smallest, which stands for the others.
const ChoiceBounds::Growths& ChoiceBounds::growths(int d, const Spatial& spatial, Count spread) {
  const bool reaches = resolved_.task.factorization == Factorization::kRubyS;
  key_.assign(1, reaches ? spatial.durations[d] : spread);
  for (const int l : members(reaches ? p_.fanouts : 0)) {
    const Unrolling& unrolling = *spatial.unrolling[l];
    key_.insert(key_.end(), {unrolling.rows[d], unrolling.cols[d]});
  }
  auto [entry, fresh] = known_growths_[d].try_emplace(key_);
  Growths& all = entry->second;
  if (!fresh) return all;
  all.resize(resolved_.memories.size());
  if (reaches) {
    list_reachable(d, spatial, all);
  } else {
    resolved_.perfect ? list_growths(resolved_.task.layer.dims[d].size / spread, all[0])
                      : list_growths(d, spread, all[0]);
    for (std::size_t k = 1; k < all.size(); ++k) all[k] = all[0];
  }
  return all;
}

void ChoiceBounds::list_growths(Count iterations, std::vector<Growth>& all) const {
  for (const Count divisor : divisors(iterations))
    all.push_back(
        {static_cast<double>(divisor), static_cast<double>(iterations / divisor), static_cast<double>(divisor)});
  std::reverse(all.begin(), all.end());
}

void ChoiceBounds::list_growths(int d, Count spread, std::vector<Growth>& all) const {
  const double iterations = std::max(1.0, p_.size[d] / static_cast<double>(spread));
  for (double left = 1;; ++left) {
    const double factor = std::ceil(iterations / left - kRoundingOfFloors);
    if (all.empty() || factor < all.back().factor)
      all.push_back({factor, at_least<"L4.5">(std::max(1.0, iterations / factor), 1),
                     all.empty() ? kInfinity : all.back().factor - 1});
    if (factor == 1) return;
    if (all.size() > kMostTiles) {  // smaller tiles still: no better than the smallest possible
      all.push_back({1, iterations / factor, factor - 1});
      return;
    }
    left = std::max(left, std::ceil(iterations / (factor - 1)) - 1);
  }
}

/// Under Ruby-S: what loops and units can reach. What is left outside is spread over the units there, and the rest are
/// rounds; where durations are chosen these are known.
void ChoiceBounds::list_reachable(int d, const Spatial& spatial, Growths& all) const {
  const std::vector<std::vector<Reached>> reached = reachable(resolved_, spatial, d);
  const Count duration = spatial.durations[d];
  for (std::size_t k = 0; k < all.size(); ++k) {
    Count outside = 1;
    for (int l = 0; l < resolved_.memories[k]; ++l) outside *= spatial.factor[l][d];
    std::map<Count, Growth> by_factor;
    for (const auto& [left, steps] : reached[k]) {
      if (duration > 0 && duration % steps != 0) continue;
      const auto factor = static_cast<double>(steps);
      const auto rounds = static_cast<double>(duration > 0 ? duration / steps : ceil_div(left, outside));
      by_factor.try_emplace(steps, Growth{factor, at_least<"L4.6">(rounds, 1), factor});
    }
    for (auto it = by_factor.rbegin(); it != by_factor.rend(); ++it) {
      if (!all[k].empty() && all[k].back().left == it->second.left)
        all[k].back().factor = it->second.factor;
      else
        all[k].push_back(it->second);
    }
    if (all[k].empty()) all[k].push_back({1, 1, kInfinity});  // nothing that the dim can be completed with
  }
}

}  // namespace pliant::exact
