// SPDX-License-Identifier: Apache-2.0
// The bound of tensors that share a memory: its tiles must hold them together, so some of them come again.
#include <algorithm>
#include <bit>

#include "dse/mappers/exact/bounds/choice_bounds.h"

namespace pliant::exact {

namespace {

/// Preparing to look at tiles takes as long as looking at so many.
constexpr std::uint64_t kTilesOfSetUp = 8;

}  // namespace

std::array<TensorSet, kMaxLevels> ChoiceBounds::kept_at(const Chosen& chosen) const {
  std::array<TensorSet, kMaxLevels> kept{};
  for (int x = 0; x < p_.tensors; ++x) {
    if (chosen[x]->staying != 0) kept[0] |= TensorSet{1} << x;
    for (std::size_t k = 0; k + 1 < resolved_.memories.size(); ++k)
      if ((chosen[x]->levels >> resolved_.memories[k] & 1U) && chosen[x]->pairs.back().parent < resolved_.memories[k])
        kept[k] |= TensorSet{1} << x;
  }
  return kept;
}

std::vector<ChoiceBounds::BestTile> ChoiceBounds::best_tiles(std::size_t keep_choice) {
  look_at_tiles();
  const Chosen chosen = patterns(keep_choice);
  const std::array<TensorSet, kMaxLevels> kept = kept_at(chosen);
  std::vector<BestTile> tiles(resolved_.memories.size() - 1);
  for (std::size_t k = 0; k < tiles.size(); ++k) {
    // Alone, a tensor stays while all loops over its uncoupled dims run.
    if (std::popcount(kept[k]) == 1) tiles[k].first = ~p_.coupled[std::countr_zero(kept[k])];
    shared_capacity_at(static_cast<int>(k), chosen, kept[k], {1, 0, 0}, &tiles[k]);
  }
  return tiles;
}

double ChoiceBounds::shared_capacity(const Chosen& chosen, const Mix& mix, const Enough& enough) const {
  // Each memory's border is crossed by one pair of every tensor that comes from outside it. What they cost together
  // there is certain, but a pair that crosses several borders must not be counted twice: all at one border and the rest
  // where they are kept, whichever is most.
  const int memories = static_cast<int>(resolved_.memories.size());
  const std::array<TensorSet, kMaxLevels> kept_at = this->kept_at(chosen);
  double best = 0;
  for (int k = 0; k + 1 < memories; ++k) {
    const double more = shared_capacity_at(k, chosen, kept_at[k], mix);
    best += more;
    if (more > 0 && enough(best)) return best;
  }
  for (int border = 0; border + 1 < memories; ++border) {
    const int level = resolved_.memories[border];
    TensorSet crossing = 0;
    for (int x = 0; x < p_.tensors; ++x) {
      const KeeperPair* pair = chosen[x]->across(level);
      if (pair != nullptr && (pair->child < p_.levels || chosen[x]->staying != 0)) crossing |= TensorSet{1} << x;
    }
    if (crossing == kept_at[border]) continue;
    double total = shared_capacity_at(border, chosen, crossing, mix);
    if (total == 0) continue;
    for (int k = 0; k + 1 < memories; ++k) {
      if (k == border) continue;
      TensorSet rest = kept_at[k];
      for (int x = 0; x < p_.tensors; ++x)
        if ((crossing >> x & 1U) && chosen[x]->across(level) == chosen[x]->across(resolved_.memories[k]))
          rest &= ~(TensorSet{1} << x);
      total += shared_capacity_at(k, chosen, rest, mix);
    }
    best = std::max(best, total);
    if (enough(best)) return best;
  }
  return best;
}

TensorSet ChoiceBounds::moved_along(int d, TensorSet tensors) const {
  TensorSet moved = 0;
  for (int x = 0; x < p_.tensors; ++x)
    if ((tensors >> x & 1U) && p_.is_coupled(x, d)) moved |= TensorSet{1} << x;
  return moved;
}

ChoiceBounds::BestTile ChoiceBounds::best_tile(const Tiles& tiles, TensorSet crossing, TensorSet moved_first) const {
  BestTile best{0, tiles.best_left, 0};
  for (int i = 0; i < tiles.dims; ++i) best.grown |= DimSet{1} << tiles.dim[i];
  for (int d = 0; d < p_.dims; ++d) best.first |= DimSet{moved_along(d, crossing) == moved_first} << d;
  return best;
}

/// What some tensors must move across the border of memory k beyond once. The innermost loop outside it that moves any
/// of them moves some set of them; each of these is delivered once per iteration of the loops over its uncoupled dims,
/// except over dims that none of them uses. The others are taken to be delivered once. Larger tiles mean fewer
/// iterations; the capacity of the memory limits them.
double ChoiceBounds::shared_capacity_at(int k, const Chosen& chosen, TensorSet crossing, const Mix& mix,
                                        BestTile* best) const {
  const int level = resolved_.memories[k];
  if (std::popcount(crossing) < 2) return 0;  // alone, a tensor may stay while all loops over its uncoupled dims run
  looked_ += kTilesOfSetUp;
  Tiles tiles(*this, level);
  DimSet used = 0;
  TensorSet staying = 0;
  std::array<double, kMaxTensors> copies{};
  std::array<Costs::Delivery, kMaxTensors> delivery{};
  for (int x = 0; x < p_.tensors; ++x) {
    if (chosen[x]->levels >> level & 1U) tiles.holds |= TensorSet{1} << x;
    if (!(crossing >> x & 1U)) continue;
    used |= p_.coupled[x];
    const KeeperPair* pair = chosen[x]->across(level);
    if (pair->child == p_.levels) staying |= TensorSet{1} << x;
    const auto number = static_cast<std::size_t>(pair - chosen[x]->pairs.data());
    const Costs::Delivery energy = this->delivery(*chosen[x], number, 0),
                          load = this->delivery(*chosen[x], number, mix.port);
    delivery[x] = {mix.energy * energy.round + mix.load * load.round, mix.energy * energy.unit + mix.load * load.unit};
    copies[x] = busy(*chosen[x], number);
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
    if (look_.temporal[d] == 1) continue;
    sets[count++] = moved_along(d, crossing);
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
          times *= look_.temporal[std::countr_zero(rest)];
        if (sets[i] >> x & 1U) {
          tiles.certain += delivery[x].round * (times - 1);
        } else {
          tiles.moved_by[tiles.disturbed] = p_.coupled[x];
          tiles.disturbance[tiles.disturbed++] = delivery[x].round * (times - 1);
        }
        continue;
      }
      if (!(sets[i] >> x & 1U)) continue;
      tiles.cost[tiles.moved] = delivery[x];
      tiles.busy[tiles.moved] = copies[x];
      const DimSet repeats = used & (staying >> x & 1U ? chosen[x]->staying : ~p_.coupled[x]);
      tiles.repeats[tiles.moved++] = repeats;
      for (DimSet rest = repeats & grows; rest != 0; rest &= rest - 1) {
        const int d = std::countr_zero(rest);
        if (look_.temporal[d] > 1 &&
            std::find(tiles.dim.begin(), tiles.dim.begin() + tiles.dims, d) == tiles.dim.begin() + tiles.dims)
          tiles.dim[tiles.dims++] = d;
      }
    }
    const int before = tiles.looked;
    const double least = tiles.best;
    tiles.grow(0);
    if (best != nullptr && tiles.best < least) *best = best_tile(tiles, crossing, sets[i]);
    looked_ += static_cast<std::uint64_t>(tiles.looked - before);
    if (tiles.looked > kMostTiles || tiles.best == 0) return 0;
  }
  return tiles.best == kInfinity ? 0 : tiles.best;
}

ChoiceBounds::Tiles::Tiles(const ChoiceBounds& bounds_in, int level_in) : bounds(bounds_in), level(level_in) {
  tile = bounds.look_.inside[level];
  left = bounds.look_.temporal;
  for (int d = 0; d < bounds.p_.dims && !bounds.resolved_.perfect; ++d) {
    worked[d] = pairs(d, left[d], bounds.look_.tile_known[d] ? 1 : kInfinity);
    fewest[d] = pairs(d, 1, bounds.look_.growths[d]->front().most);
  }
}

/// Each iteration of a dim belongs to one round of one unit, and each of these has no more than a tile of them.
double ChoiceBounds::Tiles::pairs(int d, double rounds, double growth) const {
  return std::max(rounds, bounds.p_.size[d] / (bounds.look_.inside[level][d] * growth));
}

/// Cost of the deliveries beyond the first, dims from `open` on taken to be whole.
double ChoiceBounds::Tiles::least_cost(int open) const {
  DimSet whole = 0, grown = 0;
  for (int i = open; i < dims; ++i) whole |= DimSet{1} << dim[i];
  double total = certain;
  for (int i = 0; i < open && disturbed > 0; ++i)
    if (tile[dim[i]] > bounds.look_.inside[level][dim[i]]) grown |= DimSet{1} << dim[i];
  for (int i = 0; i < disturbed; ++i)
    if ((moved_by[i] & grown) != 0) total += disturbance[i];
  for (int i = 0; i < moved; ++i) {
    double rounds = 1;
    for (DimSet rest = repeats[i] & ~whole; rest != 0; rest &= rest - 1) rounds *= left[std::countr_zero(rest)];
    total += cost[i].round * (rounds - 1);
    if (cost[i].unit == 0) continue;
    double units = 1;
    for (DimSet rest = repeats[i]; rest != 0; rest &= rest - 1) {
      const int d = std::countr_zero(rest);
      units *= (whole >> d & 1U) != 0 ? fewest[d] : worked[d];
    }
    total += cost[i].unit * std::max(rounds - 1, units - busy[i]);
  }
  return total;
}

/// Tiles of one dim after the other, the largest that fits first.
void ChoiceBounds::Tiles::grow(int at) {
  if (++looked > kMostTiles) return;
  if (at == dims) {
    if (const double least = least_cost(dims); least < best) {
      best = least;
      best_left = left;
    }
    return;
  }
  if (disturbed == 0 && least_cost(at) >= best) return;
  const int d = dim[at];
  const double smallest = bounds.look_.inside[level][d];
  const std::vector<Growth>& all = *bounds.look_.growths[d];
  // What is larger than a tile that does not fit does not fit either.
  const Problem& p = bounds.p_;
  std::array<double, kMaxTensors> others{};  // words but for this dim
  tile[d] = 1;
  for (int x = 0; x < p.tensors; ++x)
    if ((holds >> x & 1U) && !(p.affine_dims[x] >> d & 1U)) others[x] = bounds.words(x, tile);
  const auto words = [&](int x) {
    if (p.affine_dims[x] >> d & 1U) return bounds.words(x, tile);
    return p.is_coupled(x, d) ? others[x] * tile[d] : others[x];
  };
  const MemoryRules& memory = bounds.resolved_.rules.memory(level);
  auto growth = std::partition_point(all.begin(), all.end() - 1, [&](const Growth& larger) {
    tile[d] = std::min(smallest * larger.factor, p.size[d]);
    return memory.overflows(holds, words);
  });
  for (; growth != all.end(); ++growth) {
    tile[d] = std::min(smallest * growth->factor, p.size[d]);
    left[d] = growth->left;
    worked[d] = pairs(d, growth->left, growth->most);
    // Smaller tiles cost more, unless they leave an operand where it is.
    if (least_cost(at + 1) >= best) {
      if (disturbed == 0) break;
      continue;
    }
    grow(at + 1);
    if (at + 1 == dims && disturbed == 0) break;
  }
  tile[d] = smallest;
  left[d] = bounds.look_.temporal[d];
  worked[d] = pairs(d, left[d], bounds.look_.tile_known[d] ? 1 : kInfinity);
}

}  // namespace pliant::exact
