// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/bounds/choice_bounds.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/arithmetic.h"
#include "dse/mappers/exact/lattice/windows.h"
#include "flex/mapspace/factors.h"

namespace pliant::exact {

namespace {

/// Tiles looked at per memory; where there are more this bound is not worth its price.
constexpr int kMostTiles = 2000;

}  // namespace

ChoiceBounds::ChoiceBounds(const ResolvedTask& resolved) : resolved_(resolved), p_(resolved.problem) {
  floor_ = p_.macs * p_.mac_pj;
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
      pattern.least.resize(1 + p_.ports.size());
      pattern.delivery.resize(pattern.pairs.size());
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
    floor_ += nearest;
    keep_choices_ *= patterns_[x].size();
  }
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

void ChoiceBounds::look_at(const Spatial& spatial) {
  const Costs costs(resolved_, spatial);
  steps_ = costs.steps();
  for (int d = 0; d < p_.dims; ++d) {
    Count spread = 1;
    for (int l = 0; l < p_.levels; ++l) spread *= spatial.factor[l][d];
    const Count duration = spatial.durations[d];
    temporal_[d] =
        duration > 0 ? static_cast<double>(duration) : std::max(1.0, p_.size[d] / static_cast<double>(spread));
    growths_[d] = &growths(d, spread, duration);
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
      pattern.begun = 0;
      for (std::size_t f = 0; f <= p_.ports.size(); ++f) {
        double total = f == 0 ? costs.energy(pattern.pairs, weights.data())
                              : costs.port(p_.ports[f - 1], pattern.pairs, weights.data());
        for (std::size_t j = 0; j < pattern.pairs.size(); ++j) {
          const double least = costs.least(pattern.pairs[j], weights[j]);
          const double begun = costs.begun(pattern.pairs[j], weights[j]);
          total += least + begun;
          if (f > 0) continue;
          pattern.begun += begun;
          const bool alike = resolved_.perfect && pattern.pairs[j].child == p_.levels;
          pattern.delivery[j] = alike ? least : costs.delivery(pattern.pairs[j], weights[j]);
        }
        pattern.least[f] = total;
      }
    }
  }
}

double ChoiceBounds::port_cycles() const {
  double cycles = 0;
  for (std::size_t f = 1; f <= p_.ports.size(); ++f) {
    double total = 0;
    for (const std::vector<Pattern>& all : patterns_) {
      double best = kInfinity;
      for (const Pattern& pattern : all) best = std::min(best, pattern.least[f]);
      total += best;
    }
    cycles = std::max(cycles, total);
  }
  return cycles;
}

double ChoiceBounds::least() const {
  double energy = p_.macs * p_.mac_pj, cycles = steps_;
  for (std::size_t f = 0; f <= p_.ports.size(); ++f) {
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
  return value(energy, cycles, steps_);
}

bool ChoiceBounds::fits(const Chosen& chosen) const {
  for (const int l : resolved_.memories) {
    TensorSet kept = 0;
    for (int x = 0; x < p_.tensors; ++x) kept |= TensorSet{chosen[x]->levels >> l & 1U} << x;
    if (resolved_.rules.memory(l).overflows(kept, [&](int x) { return held_[x][l]; })) return false;
  }
  return true;
}

void ChoiceBounds::keeps_below(const double& limit, const std::function<void(std::size_t, double)>& visit) const {
  // The tensors' least shares still to come.
  std::array<double, kMaxTensors + 1> to_come{};
  for (int x = p_.tensors - 1; x >= 0; --x) {
    double best = kInfinity;
    for (const Pattern& pattern : patterns_[x]) best = std::min(best, pattern.least[0]);
    to_come[x] = to_come[x + 1] + best;
  }
  Chosen chosen{};
  const auto choose = [&](auto&& self, int x, std::size_t choice, std::size_t radix, double energy) -> void {
    if (x == p_.tensors) {
      if (!fits(chosen)) return;
      double cycles = steps_;
      for (std::size_t f = 1; f <= p_.ports.size(); ++f) {
        double load = 0;
        for (int y = 0; y < p_.tensors; ++y) load += chosen[y]->least[f];
        cycles = std::max(cycles, load);
      }
      if (value(energy, cycles, steps_) >= limit) return;
      double begun = 0;
      for (int y = 0; y < p_.tensors; ++y) begun += chosen[y]->begun;
      energy += std::max(0.0, shared_capacity(chosen) - begun);
      visit(choice, value(energy, cycles, steps_));
      return;
    }
    for (std::size_t i = 0; i < patterns_[x].size(); ++i) {
      chosen[x] = &patterns_[x][i];
      const double more = energy + chosen[x]->least[0];
      if (value(more + to_come[x + 1], steps_, steps_) >= limit) continue;
      self(self, x + 1, choice + i * radix, radix * patterns_[x].size(), more);
    }
  };
  choose(choose, 0, 0, 1, p_.macs * p_.mac_pj);
}

double ChoiceBounds::shared_capacity(const Chosen& chosen) const {
  // Each memory's border is crossed by one pair of every tensor that comes from outside it. What they cost together
  // there is certain, but a pair that crosses several borders must not be counted twice: all at one border and the rest
  // where they are kept, whichever is most.
  const int memories = static_cast<int>(resolved_.memories.size());
  std::array<TensorSet, kMaxLevels> kept_at{};
  for (int x = 0; x < p_.tensors; ++x) {
    if (chosen[x]->staying != 0) kept_at[0] |= TensorSet{1} << x;
    for (int k = 0; k + 1 < memories; ++k)
      if ((chosen[x]->levels >> resolved_.memories[k] & 1U) && chosen[x]->pairs.back().parent < resolved_.memories[k])
        kept_at[k] |= TensorSet{1} << x;
  }
  double best = 0;
  for (int k = 0; k + 1 < memories; ++k) best += shared_capacity_at(k, chosen, kept_at[k]);
  for (int border = 0; border + 1 < memories; ++border) {
    const int level = resolved_.memories[border];
    TensorSet crossing = 0;
    for (int x = 0; x < p_.tensors; ++x) {
      const KeeperPair* pair = chosen[x]->across(level);
      if (pair != nullptr && (pair->child < p_.levels || chosen[x]->staying != 0)) crossing |= TensorSet{1} << x;
    }
    if (crossing == kept_at[border]) continue;
    double total = shared_capacity_at(border, chosen, crossing);
    if (total == 0) continue;
    for (int k = 0; k + 1 < memories; ++k) {
      if (k == border) continue;
      TensorSet rest = kept_at[k];
      for (int x = 0; x < p_.tensors; ++x)
        if ((crossing >> x & 1U) && chosen[x]->across(level) == chosen[x]->across(resolved_.memories[k]))
          rest &= ~(TensorSet{1} << x);
      total += shared_capacity_at(k, chosen, rest);
    }
    best = std::max(best, total);
  }
  return best;
}

/// What some tensors must move across the border of memory k beyond once. The innermost loop outside it that moves any
/// of them moves some set of them; each of these is delivered once per iteration of the loops over its uncoupled dims,
/// except over dims that none of them uses. The others are taken to be delivered once. Larger tiles mean fewer
/// iterations; the capacity of the memory limits them.
double ChoiceBounds::shared_capacity_at(int k, const Chosen& chosen, TensorSet crossing) const {
  const int level = resolved_.memories[k];
  if (std::popcount(crossing) < 2) return 0;  // alone, a tensor may stay while all loops over its uncoupled dims run
  Tiles tiles(*this, level);
  DimSet used = 0;
  TensorSet staying = 0;
  std::array<double, kMaxTensors> delivery{};
  for (int x = 0; x < p_.tensors; ++x) {
    if (chosen[x]->levels >> level & 1U) tiles.holds |= TensorSet{1} << x;
    if (!(crossing >> x & 1U)) continue;
    used |= p_.coupled[x];
    const KeeperPair* pair = chosen[x]->across(level);
    if (pair->child == p_.levels) staying |= TensorSet{1} << x;
    delivery[x] = chosen[x]->delivery[static_cast<std::size_t>(pair - chosen[x]->pairs.data())];
  }
  if (p_.capacity[level] == kInfinity && k > 0) return 0;
  DimSet grows = 0, moves = 0;
  for (int i = 0; i < static_cast<int>(resolved_.memories.size()); ++i)
    (i <= k ? grows : moves) |= resolved_.may_loop[i];
  // The best over the sets that a loop can move first; a set that contains another is never better.
  std::array<TensorSet, kMaxDims> sets{};
  int count = 0;
  for (DimSet rest = used & moves; rest != 0; rest &= rest - 1) {
    const int d = std::countr_zero(rest);
    if (temporal_[d] == 1) continue;
    for (int x = 0; x < p_.tensors; ++x)
      if ((crossing >> x & 1U) && p_.is_coupled(x, d)) sets[count] |= TensorSet{1} << x;
    ++count;
  }
  tiles.best = kInfinity;
  for (int i = 0; i < count; ++i) {
    bool minimal = true;
    for (int j = 0; j < count; ++j) minimal &= sets[j] == sets[i] ? j >= i : (sets[j] & ~sets[i]) != 0;
    if (!minimal) continue;
    // Dims whose tiles save deliveries; the others stay as small as they can.
    tiles.dims = 0;
    tiles.moved = 0;
    tiles.disturbed = 0;
    tiles.certain = 0;
    for (int x = 0; x < p_.tensors; ++x) {
      if (k == 0 && (staying >> x & 1U)) {
        // Loops of the innermost memory repeat such an operand as others do, and move it as others do.
        double times = 1;
        for (DimSet rest = chosen[x]->staying & used; rest != 0; rest &= rest - 1)
          times *= temporal_[std::countr_zero(rest)];
        if (sets[i] >> x & 1U) {
          tiles.certain += delivery[x] * (times - 1);
        } else {
          tiles.moved_by[tiles.disturbed] = p_.coupled[x];
          tiles.disturbance[tiles.disturbed++] = delivery[x] * (times - 1);
        }
        continue;
      }
      if (!(sets[i] >> x & 1U)) continue;
      tiles.cost[tiles.moved] = delivery[x];
      const DimSet repeats = used & (staying >> x & 1U ? chosen[x]->staying : ~p_.coupled[x]);
      tiles.repeats[tiles.moved++] = repeats;
      for (DimSet rest = repeats & grows; rest != 0; rest &= rest - 1) {
        const int d = std::countr_zero(rest);
        if (temporal_[d] > 1 &&
            std::find(tiles.dim.begin(), tiles.dim.begin() + tiles.dims, d) == tiles.dim.begin() + tiles.dims)
          tiles.dim[tiles.dims++] = d;
      }
    }
    tiles.grow(0);
    if (tiles.looked > kMostTiles || tiles.best == 0) return 0;
  }
  return tiles.best == kInfinity ? 0 : tiles.best;
}

ChoiceBounds::Tiles::Tiles(const ChoiceBounds& bounds_in, int level_in) : bounds(bounds_in), level(level_in) {
  tile = bounds.inside_[level];
  left = bounds.temporal_;
}

/// Cost of the deliveries beyond the first, dims from `open` on taken to be whole.
double ChoiceBounds::Tiles::least_cost(int open) const {
  DimSet whole = 0, grown = 0;
  for (int i = open; i < dims; ++i) whole |= DimSet{1} << dim[i];
  double total = certain;
  for (int i = 0; i < open && disturbed > 0; ++i)
    if (tile[dim[i]] > bounds.inside_[level][dim[i]]) grown |= DimSet{1} << dim[i];
  for (int i = 0; i < disturbed; ++i)
    if ((moved_by[i] & grown) != 0) total += disturbance[i];
  for (int i = 0; i < moved; ++i) {
    double times = 1;
    for (DimSet rest = repeats[i] & ~whole; rest != 0; rest &= rest - 1) times *= left[std::countr_zero(rest)];
    total += cost[i] * (times - 1);
  }
  return total;
}

bool ChoiceBounds::Tiles::fit() const {
  return !bounds.resolved_.rules.memory(level).overflows(holds, [&](int x) { return bounds.words(x, tile); });
}

/// Tiles of one dim after the other, the largest that fits first.
void ChoiceBounds::Tiles::grow(int at) {
  if (++looked > kMostTiles) return;
  if (at == dims) {
    best = std::min(best, least_cost(dims));
    return;
  }
  const int d = dim[at];
  const double smallest = bounds.inside_[level][d];
  for (const Growth& growth : *bounds.growths_[d]) {
    tile[d] = std::min(smallest * growth.factor, bounds.p_.size[d]);
    left[d] = growth.left;
    // Smaller tiles cost more, unless they leave an operand where it is.
    if (least_cost(at + 1) >= best) {
      if (disturbed == 0) break;
      continue;
    }
    if (growth.factor > 1 && !fit()) continue;
    grow(at + 1);
    if (at + 1 == dims && disturbed == 0) break;
  }
  tile[d] = smallest;
  left[d] = bounds.temporal_[d];
}

}  // namespace pliant::exact
