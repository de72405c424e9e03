// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/bounds/tiling.h"

#include <algorithm>
#include <cmath>

#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "dse/mappers/exact/chain/durations.h"
#include "dse/mappers/exact/task/facts.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/task/tolerances.h"
#include "flex/mapspace/factors.h"

namespace pliant::exact {

namespace {

/// Memories outside that hold so many of the smallest tiles are not asked whether they hold larger ones.
constexpr double kRoomyFor = 32;

}  // namespace

const Growths& KnownGrowths::of(int d, const Spatial& spatial, Count spread) {
  const bool reaches = resolved_.task.factorization == Factorization::kRubyS && spatial.open == 0;
  key_.assign(1, reaches ? spatial.durations[d] : spread);
  for (const int l : members(reaches ? p_.fanouts : 0)) {
    const Unrolling& unrolling = *spatial.unrolling[l];
    key_.insert(key_.end(), {unrolling.rows[d], unrolling.cols[d]});
  }
  auto [entry, fresh] = known_[d].try_emplace(key_);
  Growths& all = entry->second;
  if (!fresh) return all;
  all.resize(resolved_.memories.size());
  if (reaches) {
    list_reachable(d, spatial, all);
  } else {
    resolved_.perfect ? list_divisors(resolved_.task.layer.dims[d].size / spread, all[0])
                      : list_rounds(d, spread, all[0]);
    for (std::size_t k = 1; k < all.size(); ++k) all[k] = all[0];
  }
  return all;
}

void KnownGrowths::list_divisors(Count iterations, std::vector<Growth>& all) const {
  for (const Count divisor : divisors(iterations))
    all.push_back(
        {static_cast<double>(divisor), static_cast<double>(iterations / divisor), static_cast<double>(divisor)});
  std::reverse(all.begin(), all.end());
}

void KnownGrowths::list_rounds(int d, Count spread, std::vector<Growth>& all) const {
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
void KnownGrowths::list_reachable(int d, const Spatial& spatial, Growths& all) const {
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

double words_of_tile(const Problem& p, int x, const std::array<double, kMaxDims>& tile) {
  double product = 1;
  for (const int d : members(p.simple[x])) product *= tile[d];
  for (const Problem::AffineRank& rank : p.affine[x]) product *= extent(p, rank, tile, false);
  return product;
}

Tiling::Tiling(const ResolvedTask& resolved_in, const Spatial& spatial, const HeldWords& smallest, KnownGrowths& known)
    : resolved(resolved_in), problem(resolved_in.problem), held(smallest) {
  for (int d = 0; d < problem.dims; ++d) {
    Count spread = 1;
    for (int l = 0; l < problem.levels; ++l) spread *= spatial.factor[l][d];
    const Count duration = spatial.durations[d];
    const bool whole = resolved.task.factorization == Factorization::kRubyS && spatial.open == 0;
    temporal[d] = duration > 0 ? static_cast<double>(duration)
                  : whole      ? static_cast<double>(ceil_div(resolved.task.layer.dims[d].size, spread))
                               : std::max(1.0, problem.size[d] / static_cast<double>(spread));
    growths[d] = &known.of(d, spatial, spread);
    tile_known[d] = resolved.perfect || duration > 0 || spread == 1;
  }
  Tile within, copies;
  within.fill(1);
  copies.fill(1);
  for (int l = problem.levels - 1; l >= 0; --l) {
    if (!problem.is_memory[l]) {
      for (int d = 0; d < problem.dims; ++d) {
        within[d] = std::min(within[d] * static_cast<double>(spatial.factor[l][d]), problem.size[d]);
        copies[d] *= static_cast<double>(spatial.factor[l][d]);
      }
      continue;
    }
    inside[l] = within;
    units[l] = copies;
    if (problem.capacity[l] == kInfinity) continue;
    for (int x = 0; x < problem.tensors; ++x)
      if (contains(problem.may_keep[l], x)) held[x][l] = words(x, within);
  }
}

TensorSet Tiling::moved_along(int d, TensorSet tensors) const {
  TensorSet moved = 0;
  for (int x = 0; x < problem.tensors; ++x)
    if (contains(tensors, x) && problem.is_coupled(x, d)) moved |= only(x);
  return moved;
}

int Tiling::first_sets(int k, TensorSet crossing, DimSet used, FirstSets& sets) const {
  DimSet moves = 0;
  for (std::size_t i = static_cast<std::size_t>(k) + 1; i < resolved.memories.size(); ++i)
    moves |= resolved.may_loop[i];
  FirstSets all{};
  int count = 0, minimal = 0;
  for (const int d : members(used & moves))
    if (temporal[d] > 1) all[count++] = moved_along(d, crossing);
  for (int i = 0; i < count; ++i) {
    bool smallest = true;
    for (int j = 0; j < count; ++j) smallest &= all[j] == all[i] ? j >= i : (all[j] & ~all[i]) != 0;
    if (smallest) sets[minimal++] = all[i];
  }
  return minimal;
}

Tiling::Held Tiling::held_outside(int k, const std::array<TensorSet, kMaxLevels>& kept) const {
  Held holds{};
  for (std::size_t j = static_cast<std::size_t>(k); j + 1 < resolved.memories.size(); ++j) {
    const int level = resolved.memories[j];
    const auto filled = [&](int x) { return kRoomyFor * held[x][level]; };
    const bool roomy =
        problem.capacity[level] == kInfinity || !resolved.rules.memory(level).overflows(kept[level], filled);
    if (static_cast<int>(j) == k || !roomy) holds[j] = kept[level];
  }
  return holds;
}

const Growth* Tiling::largest_growth(int k, int d, const Held& holds, Tile& tile) const {
  const int level = resolved.memories[static_cast<std::size_t>(k)];
  const std::vector<Growth>& all = growths_at(k, d);
  const TensorSet kept = holds[static_cast<std::size_t>(k)];
  std::array<double, kMaxTensors> others{};  // words but for this dim
  const double before = std::exchange(tile[d], 1);
  for (int x = 0; x < problem.tensors; ++x)
    if (contains(kept, x) && !contains(problem.affine_dims[x], d)) others[x] = words(x, tile);
  const auto words_of = [&](int x) {
    if (contains(problem.affine_dims[x], d)) return words(x, tile);
    return problem.is_coupled(x, d) ? others[x] * tile[d] : others[x];
  };
  const MemoryRules& memory = resolved.rules.memory(level);
  // What is larger than a tile that does not fit does not fit either.
  const double smallest = inside[level][d];
  const Growth* const last = &all.back();
  const Growth* found = std::partition_point(all.data(), last, [&](const Growth& larger) {
    tile[d] = std::min(smallest * larger.factor, problem.size[d]);
    return memory.overflows(kept, words_of);
  });
  tile[d] = before;
  for (std::size_t j = static_cast<std::size_t>(k) + 1; j + 1 < resolved.memories.size(); ++j)
    if (holds[j] != 0 && found != last)
      found = fitting_outside(level, d, resolved.memories[j], holds[j], tile, {found, last});
  return found;
}

/// The tile of a memory is part of that of every memory outside it, together with those of all units between them.
const Growth* Tiling::fitting_outside(int level, int d, int outer, TensorSet holds, const Tile& tile,
                                      std::pair<const Growth*, const Growth*> larger) const {
  Tile whole = inside[outer];
  for (int e = 0; e < problem.dims; ++e)
    if (const double smallest = inside[level][e]; tile[e] > smallest)
      whole[e] = std::min(whole[e] * (tile[e] / smallest), problem.size[e]);
  const MemoryRules& memory = resolved.rules.memory(outer);
  const auto overflows = [&](const Growth& growth) {
    whole[d] = std::min(inside[outer][d] * growth.factor, problem.size[d]);
    return sure<"L4.3">(memory.overflows(holds, [&](int x) { return words(x, whole); }));
  };
  return overflows(*larger.first) ? std::partition_point(larger.first, larger.second, overflows) : larger.first;
}

}  // namespace pliant::exact
