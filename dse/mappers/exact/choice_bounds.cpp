// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/choice_bounds.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "dse/mappers/exact/windows.h"

namespace pliant::exact {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Tiles looked at per memory; where there are more the crowding is not worth its price.
constexpr double kMostTiles = 512;

}  // namespace

ChoiceBounds::ChoiceBounds(const Setting& setting) : setting_(setting), p_(setting.problem) {
  for (int l = 0; l < p_.levels; ++l)
    for (const bool write : {false, true})
      if (p_.is_memory[l] && (write ? p_.write_bandwidth[l] : p_.read_bandwidth[l]) < kInfinity)
        ports_.push_back({l, write});
  floor_ = p_.macs * p_.mac_pj;
  patterns_.resize(static_cast<std::size_t>(p_.tensors));
  for (int x = 0; x < p_.tensors; ++x) {
    double nearest = kInfinity;
    for (const std::uint32_t levels : keep_patterns(p_, x)) {
      Pattern pattern;
      pattern.levels = levels;
      int child = p_.levels;
      for (const int l : setting_.memories) {
        if (!(levels >> l & 1U)) continue;
        pattern.pairs.push_back({x, l, child});
        child = l;
      }
      pattern.staying = setting_.staying(x, pattern.pairs.front().parent);
      pattern.least.resize(1 + ports_.size());
      pattern.delivery.resize(pattern.pairs.size());
      // Whatever shares words between the compute units and their memory shares them at most between all units.
      const int keeper = pattern.pairs.front().parent;
      double units = 1;
      for (int l = keeper + 1; l < p_.levels; ++l)
        if (!p_.is_memory[l]) units *= static_cast<double>(p_.accelerator.levels[l].fanout().units());
      if (setting_.compute_runs) units = kInfinity;
      nearest = std::min(nearest, p_.macs / units * (x == p_.output ? p_.update_pj[keeper] : p_.read_pj[keeper]));
      patterns_[x].push_back(std::move(pattern));
    }
    floor_ += nearest;
    keep_choices_ *= patterns_[x].size();
  }
}

ChoiceBounds::Chosen ChoiceBounds::patterns(std::size_t choice) const {
  Chosen chosen{};
  for (int x = 0; x < p_.tensors; ++x) {
    chosen[x] = &patterns_[x][choice % patterns_[x].size()];
    choice /= patterns_[x].size();
  }
  return chosen;
}

Keeps ChoiceBounds::keeps(std::size_t choice) const {
  const Chosen chosen = patterns(choice);
  Keeps keeps{};
  for (int x = 0; x < p_.tensors; ++x)
    for (int l = 0; l < p_.levels; ++l) keeps[l] |= (chosen[x]->levels >> l & 1U) << x;
  return keeps;
}

double ChoiceBounds::value(double energy, double cycles) const {
  return objective_bound(p_, setting_.task.objective, energy, cycles);
}

double ChoiceBounds::floor(double steps) const { return value(floor_, steps); }

double ChoiceBounds::words(int x, const std::array<double, kMaxDims>& tile) const {
  double product = 1;
  for (DimSet rest = p_.simple[x]; rest != 0; rest &= rest - 1) product *= tile[std::countr_zero(rest)];
  for (const Problem::AffineRank& rank : p_.affine[x]) product *= extent(p_, rank, tile, false);
  return product;
}

void ChoiceBounds::look_at(const Spatial& spatial) {
  const Costs costs(setting_, spatial);
  steps_ = costs.steps();
  for (int d = 0; d < p_.dims; ++d) {
    iterations_[d] = setting_.task.layer.dims[d].size;
    temporal_[d] = p_.size[d];
    for (int l = 0; l < p_.levels; ++l) {
      iterations_[d] /= spatial.factor[l][d];
      temporal_[d] /= static_cast<double>(spatial.factor[l][d]);
    }
    temporal_[d] = std::max(1.0, temporal_[d]);
  }
  std::array<double, kMaxDims> inside;
  inside.fill(1);
  for (int l = p_.levels - 1; l >= 0; --l) {
    if (!p_.is_memory[l]) {
      for (int d = 0; d < p_.dims; ++d)
        inside[d] = std::min(inside[d] * static_cast<double>(spatial.factor[l][d]), p_.size[d]);
      continue;
    }
    inside_[l] = inside;
    if (p_.capacity[l] == kInfinity) continue;
    for (int x = 0; x < p_.tensors; ++x)
      if (p_.may_keep[l] >> x & 1U) held_[x][l] = words(x, inside);
  }
  std::array<Weights, kMaxLevels> weights;
  for (int x = 0; x < p_.tensors; ++x) {
    for (Pattern& pattern : patterns_[x]) {
      for (std::size_t f = 0; f <= ports_.size(); ++f) {
        double total = f == 0 ? costs.energy(pattern.pairs, weights.data())
                              : costs.port(ports_[f - 1].level, ports_[f - 1].write, pattern.pairs, weights.data());
        for (std::size_t j = 0; j < pattern.pairs.size(); ++j) {
          const double least = costs.least(pattern.pairs[j], weights[j]);
          total += least;
          if (f == 0 && j == 0) pattern.first_operand = least;
          if (f == 0) pattern.delivery[j] = costs.delivery(pattern.pairs[j], weights[j]);
        }
        pattern.least[f] = total;
      }
    }
  }
}

double ChoiceBounds::least() const {
  double energy = p_.macs * p_.mac_pj, cycles = steps_;
  for (std::size_t f = 0; f <= ports_.size(); ++f) {
    double total = 0;
    for (const std::vector<Pattern>& all : patterns_) {
      double best = kInfinity;
      for (const Pattern& pattern : all) best = std::min(best, pattern.least[f]);
      total += best;
    }
    if (f == 0)
      energy += total;
    else
      cycles = std::max(cycles, total);
  }
  return value(energy, cycles);
}

bool ChoiceBounds::fits(const Chosen& chosen) const {
  for (const int l : setting_.memories) {
    if (p_.capacity[l] == kInfinity) continue;
    double held = 0;
    for (int x = 0; x < p_.tensors; ++x)
      if (chosen[x]->levels >> l & 1U) held += held_[x][l];
    if (held > p_.capacity[l]) return false;
  }
  return true;
}

double ChoiceBounds::moved_once(std::size_t choice) const {
  const Chosen chosen = patterns(choice);
  if (!fits(chosen)) return kInfinity;
  double energy = p_.macs * p_.mac_pj, cycles = steps_;
  for (std::size_t f = 0; f <= ports_.size(); ++f) {
    double total = 0;
    for (int x = 0; x < p_.tensors; ++x) total += chosen[x]->least[f];
    if (f == 0)
      energy += total;
    else
      cycles = std::max(cycles, total);
  }
  return value(energy, cycles);
}

double ChoiceBounds::crowded(std::size_t choice) const {
  const Chosen chosen = patterns(choice);
  double energy = p_.macs * p_.mac_pj, cycles = steps_;
  for (std::size_t f = 0; f <= ports_.size(); ++f) {
    double total = 0;
    for (int x = 0; x < p_.tensors; ++x) total += chosen[x]->least[f];
    if (f == 0)
      energy += total;
    else
      cycles = std::max(cycles, total);
  }
  energy += crowding_at_compute(chosen);
  if (setting_.perfect)
    for (int k = 0; k + 1 < static_cast<int>(setting_.memories.size()); ++k) energy += crowding(k, chosen);
  return value(energy, cycles);
}

/// Operands that may stay at the compute units (quickflow only) crowd each other as well: the innermost loop that moves
/// any of them asks for some of them anew at every step, except for loops over dims that none of them uses.
double ChoiceBounds::crowding_at_compute(const Chosen& chosen) const {
  TensorSet here = 0;
  DimSet used = 0;
  for (int x = 0; x < p_.tensors; ++x) {
    if (chosen[x]->staying == 0) continue;
    here |= TensorSet{1} << x;
    used |= p_.coupled[x];
  }
  double best = kInfinity;
  for (DimSet rest = used; rest != 0; rest &= rest - 1) {
    const int d = std::countr_zero(rest);
    double total = 0;
    for (int x = 0; x < p_.tensors; ++x) {
      if (!(here >> x & 1U) || !p_.is_coupled(x, d)) continue;
      double repeats = 1;
      for (DimSet others = chosen[x]->staying & used; others != 0; others &= others - 1)
        repeats *= temporal_[std::countr_zero(others)];
      total += chosen[x]->first_operand * (repeats - 1);
    }
    best = std::min(best, total);
  }
  return best == kInfinity ? 0 : best;
}

/// What the tensors that memory k keeps must move beyond once. The innermost loop outside it that moves any of them
/// moves some set of them; each of these is delivered once per iteration of the loops over its uncoupled dims, except
/// over dims that none of them uses. The others are taken to be delivered once. Larger tiles mean fewer iterations; the
/// capacity limits them.
double ChoiceBounds::crowding(int k, const Chosen& chosen) const {
  const int level = setting_.memories[k];
  if (p_.capacity[level] == kInfinity) return 0;
  // 1. Who is here, and what a delivery of each costs.
  TensorSet here = 0;
  std::array<double, kMaxTensors> delivery{};
  DimSet used = 0;
  double others = 0;  // words held of tensors whose home this is
  for (int x = 0; x < p_.tensors; ++x) {
    if (!(chosen[x]->levels >> level & 1U)) continue;
    bool home = true;
    for (std::size_t j = 0; j < chosen[x]->pairs.size(); ++j) {
      if (chosen[x]->pairs[j].child != level) continue;
      delivery[x] = chosen[x]->delivery[j];
      home = false;
    }
    if (home) {
      others += held_[x][level];
      continue;
    }
    here |= TensorSet{1} << x;
    used |= p_.coupled[x];
  }
  if (std::popcount(here) < 2) return 0;  // alone, a tensor may stay while all loops over its uncoupled dims run
  // 2. Tile growth of each dim: by loops of this memory and those inside it, if they may have any.
  DimSet grows = 0, moves = 0;
  for (std::size_t i = 0; i < setting_.memories.size(); ++i)
    (static_cast<int>(i) <= k ? grows : moves) |= setting_.may_loop[i];
  const std::array<Count, kMaxDims>& iterations = iterations_;
  // 3. The best over the sets that a loop can move first; a set that contains another is never better.
  std::array<TensorSet, kMaxDims> sets{};
  int count = 0;
  bool stays = true;  // is there room for everything, so that nothing needs to move twice?
  for (DimSet rest = used & moves; rest != 0; rest &= rest - 1) {
    const int d = std::countr_zero(rest);
    if (iterations[d] == 1) continue;
    TensorSet moved = 0;
    for (int x = 0; x < p_.tensors; ++x)
      if ((here >> x & 1U) && p_.is_coupled(x, d)) moved |= TensorSet{1} << x;
    sets[count++] = moved;
  }
  double best = kInfinity;
  for (int i = 0; i < count; ++i) {
    bool minimal = true;
    for (int j = 0; j < count; ++j) minimal &= sets[j] == sets[i] ? j >= i : (sets[j] & ~sets[i]) != 0;
    if (!minimal) continue;
    stays = false;
    // Dims whose tiles save deliveries; the others stay as small as they can.
    DimSet saving = 0;
    for (int x = 0; x < p_.tensors; ++x)
      if (sets[i] >> x & 1U) saving |= used & ~p_.coupled[x];
    std::vector<int> dims;
    double tiles = 1;
    for (DimSet rest = saving & grows; rest != 0; rest &= rest - 1) {
      const int d = std::countr_zero(rest);
      if (iterations[d] == 1) continue;
      dims.push_back(d);
      tiles *= static_cast<double>(setting_.divisors[d].size());
    }
    if (tiles > kMostTiles) return 0;
    std::array<double, kMaxDims> tile = inside_[level], left{};
    for (int d = 0; d < p_.dims; ++d) left[d] = static_cast<double>(iterations[d]);
    const auto cost = [&] {
      double total = 0;
      for (int x = 0; x < p_.tensors; ++x) {
        if (!(sets[i] >> x & 1U)) continue;
        double repeats = 1;
        for (DimSet rest = used & ~p_.coupled[x]; rest != 0; rest &= rest - 1) repeats *= left[std::countr_zero(rest)];
        total += delivery[x] * (repeats - 1);
      }
      return total;
    };
    const auto fitting = [&] {
      double held = others;
      for (int x = 0; x < p_.tensors; ++x)
        if (here >> x & 1U) held += words(x, tile);
      return held <= p_.capacity[level];
    };
    const auto grow = [&](auto&& self, std::size_t at) -> void {
      if (at == dims.size()) {
        best = std::min(best, cost());
        return;
      }
      const int d = dims[at];
      const double smallest = inside_[level][d];
      const Count most = iterations[d];
      Count grown = 1;
      for (const Count factor : setting_.divisors[d]) {
        if (factor > most) break;
        if (most % factor != 0) continue;
        tile[d] = smallest * static_cast<double>(factor);
        left[d] = static_cast<double>(most / factor);
        if (!fitting()) break;
        grown = factor;
        if (at + 1 < dims.size()) self(self, at + 1);
      }
      if (at + 1 == dims.size()) {  // the last one: the largest that fits
        left[d] = static_cast<double>(most / grown);
        best = std::min(best, cost());
      }
      tile[d] = smallest;
      left[d] = static_cast<double>(most);
    };
    grow(grow, 0);
  }
  return stays || best == kInfinity ? 0 : best;
}

}  // namespace pliant::exact
