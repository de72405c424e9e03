// SPDX-License-Identifier: Apache-2.0
// The bound of tensors that share a memory: its tiles must hold them together, so some of them come again.
#include <algorithm>
#include <bit>
#include <utility>

#include "costmodel/bits.h"
#include "dse/mappers/exact/bounds/unrolling_bounds.h"
#include "dse/mappers/exact/task/effort.h"
#include "dse/mappers/exact/task/ledger.h"

namespace pliant::exact {

namespace {

/// Memories outside that hold so many of the smallest tiles are not asked whether they hold larger ones.
constexpr double kRoomyFor = 32;

}  // namespace

std::array<TensorSet, kMaxLevels> UnrollingBounds::kept_at(const Chosen& chosen) const {
  std::array<TensorSet, kMaxLevels> kept{};
  for (int x = 0; x < p_.tensors; ++x) {
    if (chosen[x]->staying != 0) kept[0] |= only(x);
    for (std::size_t k = 0; k + 1 < resolved_.memories.size(); ++k)
      if (contains(chosen[x]->levels, resolved_.memories[k]) && chosen[x]->pairs.back().parent < resolved_.memories[k])
        kept[k] |= only(x);
  }
  return kept;
}

/// Each memory's border is crossed by one pair of every tensor that comes from outside it. What they cost together
/// there is certain, but a pair that crosses several borders must not be counted twice: all at one border and the rest
/// where they are kept, or (below 0) all where they are kept.
std::array<TensorSet, kMaxLevels> UnrollingBounds::counted_at(int border, const Chosen& chosen) const {
  std::array<TensorSet, kMaxLevels> counted = kept_at(chosen);
  if (border < 0) return counted;
  const int level = resolved_.memories[border];
  TensorSet crossing = 0;
  for (int x = 0; x < p_.tensors; ++x) {
    const KeeperPair* pair = chosen[x]->across(level);
    if (pair == nullptr || (pair->child == p_.levels && chosen[x]->staying == 0)) continue;
    crossing |= only(x);
    for (std::size_t k = 0; k + 1 < resolved_.memories.size(); ++k)
      if (pair == chosen[x]->across(resolved_.memories[k])) counted[k] &= ~(only(x));
  }
  counted[border] = crossing;
  return counted;
}

std::vector<UnrollingBounds::BestTile> UnrollingBounds::best_tiles(std::size_t keep_choice) const {
  const Chosen chosen = all_.patterns(keep_choice);
  const auto memories = static_cast<int>(resolved_.memories.size());
  const std::array<TensorSet, kMaxLevels> kept = kept_at(chosen);
  std::vector<BestTile> best;
  double most = -1;
  for (int border = -1; border + 1 < memories; ++border) {
    const std::array<TensorSet, kMaxLevels> counted = counted_at(border, chosen);
    std::vector<BestTile> tiles(resolved_.memories.size() - 1);
    double total = 0;
    for (int k = 0; k + 1 < memories; ++k) {
      // Alone, a tensor stays while all loops over its uncoupled dims run.
      if (std::popcount(kept[k]) == 1) tiles[k].first = ~p_.coupled[std::countr_zero(kept[k])];
      total += shared_capacity_at(k, chosen, counted[k], {1, 0, 0}, &tiles[k]);
    }
    if (total <= most) continue;
    most = total;
    best = std::move(tiles);
  }
  return best;
}

double UnrollingBounds::shared_capacity(const Chosen& chosen, const Mix& mix, const Enough& enough) const {
  const int memories = static_cast<int>(resolved_.memories.size());
  const std::array<TensorSet, kMaxLevels> kept = kept_at(chosen);
  double best = 0;
  for (int border = -1; border + 1 < memories; ++border) {
    const std::array<TensorSet, kMaxLevels> counted = border < 0 ? kept : counted_at(border, chosen);
    if (border >= 0 && counted[border] == kept[border]) continue;
    double total = border < 0 ? 0 : shared_capacity_at(border, chosen, counted[border], mix);
    if (border >= 0 && total == 0) continue;
    for (int k = 0; k + 1 < memories && (total == 0 || !enough(total)); ++k)
      if (k != border) total += shared_capacity_at(k, chosen, counted[k], mix);
    best = std::max(best, total);
    if (enough(best)) return best;
  }
  return best;
}

TensorSet UnrollingBounds::moved_along(int d, TensorSet tensors) const {
  TensorSet moved = 0;
  for (int x = 0; x < p_.tensors; ++x)
    if (contains(tensors, x) && p_.is_coupled(x, d)) moved |= only(x);
  return moved;
}

int UnrollingBounds::first_sets(int k, TensorSet crossing, DimSet used, FirstSets& sets) const {
  DimSet moves = 0;
  for (std::size_t i = static_cast<std::size_t>(k) + 1; i < resolved_.memories.size(); ++i)
    moves |= resolved_.may_loop[i];
  FirstSets all{};
  int count = 0, minimal = 0;
  for (const int d : members(used & moves))
    if (tiling().temporal[d] > 1) all[count++] = moved_along(d, crossing);
  for (int i = 0; i < count; ++i) {
    bool smallest = true;
    for (int j = 0; j < count; ++j) smallest &= all[j] == all[i] ? j >= i : (all[j] & ~all[i]) != 0;
    if (smallest) sets[minimal++] = all[i];
  }
  return minimal;
}

UnrollingBounds::Held UnrollingBounds::held_outside(int k, const Chosen& chosen) const {
  Held holds{};
  for (std::size_t j = static_cast<std::size_t>(k); j + 1 < resolved_.memories.size(); ++j) {
    const int level = resolved_.memories[j];
    TensorSet held = 0;
    for (int x = 0; x < p_.tensors; ++x) held |= TensorSet{chosen[x]->levels >> level & 1U} << x;
    const auto filled = [&](int x) { return kRoomyFor * tiling().held[x][level]; };
    const bool roomy = p_.capacity[level] == kInfinity || !resolved_.rules.memory(level).overflows(held, filled);
    if (static_cast<int>(j) == k || !roomy) holds[j] = held;
  }
  return holds;
}

const UnrollingBounds::Growth* UnrollingBounds::largest_growth(int k, int d, const Held& holds,
                                                               std::array<double, kMaxDims>& tile) const {
  const int level = resolved_.memories[static_cast<std::size_t>(k)];
  const std::vector<Growth>& all = (*tiling().growths[d])[static_cast<std::size_t>(k)];
  const TensorSet held = holds[static_cast<std::size_t>(k)];
  std::array<double, kMaxTensors> others{};  // words but for this dim
  const double before = std::exchange(tile[d], 1);
  for (int x = 0; x < p_.tensors; ++x)
    if (contains(held, x) && !contains(p_.affine_dims[x], d)) others[x] = all_.words(x, tile);
  const auto words_of = [&](int x) {
    if (contains(p_.affine_dims[x], d)) return all_.words(x, tile);
    return p_.is_coupled(x, d) ? others[x] * tile[d] : others[x];
  };
  const MemoryRules& memory = resolved_.rules.memory(level);
  // What is larger than a tile that does not fit does not fit either.
  const double smallest = tiling().inside[level][d];
  const Growth* const last = &all.back();
  const Growth* found = std::partition_point(all.data(), last, [&](const Growth& larger) {
    tile[d] = std::min(smallest * larger.factor, p_.size[d]);
    return memory.overflows(held, words_of);
  });
  tile[d] = before;
  for (std::size_t j = static_cast<std::size_t>(k) + 1; j + 1 < resolved_.memories.size(); ++j)
    if (holds[j] != 0 && found != last)
      found = fitting_outside(level, d, resolved_.memories[j], holds[j], tile, {found, last});
  return found;
}

/// The tile of a memory is part of that of every memory outside it, together with those of all units between them.
const UnrollingBounds::Growth* UnrollingBounds::fitting_outside(int level, int d, int outer, TensorSet holds,
                                                                const std::array<double, kMaxDims>& tile,
                                                                std::pair<const Growth*, const Growth*> larger) const {
  std::array<double, kMaxDims> whole = tiling().inside[outer];
  for (int e = 0; e < p_.dims; ++e)
    if (const double smallest = tiling().inside[level][e]; tile[e] > smallest)
      whole[e] = std::min(whole[e] * (tile[e] / smallest), p_.size[e]);
  const MemoryRules& memory = resolved_.rules.memory(outer);
  const auto overflows = [&](const Growth& growth) {
    whole[d] = std::min(tiling().inside[outer][d] * growth.factor, p_.size[d]);
    return sure<"L4.3">(memory.overflows(holds, [&](int x) { return all_.words(x, whole); }));
  };
  return overflows(*larger.first) ? std::partition_point(larger.first, larger.second, overflows) : larger.first;
}

UnrollingBounds::BestTile UnrollingBounds::best_tile(const Tiles& tiles, TensorSet crossing,
                                                     TensorSet moved_first) const {
  BestTile best{0, tiles.best_left, 0};
  for (int i = 0; i < tiles.dims; ++i) best.grown |= only(tiles.dim[i]);
  for (int d = 0; d < p_.dims; ++d) best.first |= DimSet{moved_along(d, crossing) == moved_first} << d;
  return best;
}

UnrollingBounds::Border UnrollingBounds::border_of(int k, const Chosen& chosen, TensorSet crossing,
                                                   const Mix& mix) const {
  Border border;
  border.k = k;
  border.level = resolved_.memories[k];
  border.crossing = crossing;
  for (int x = 0; x < p_.tensors; ++x) {
    if (!contains(crossing, x)) continue;
    border.used |= p_.coupled[x];
    const KeeperPair* pair = chosen[x]->across(border.level);
    border.child[x] = pair->child;
    if (pair->child == p_.levels) border.staying |= only(x);
    const auto number = static_cast<std::size_t>(pair - chosen[x]->pairs.data());
    const Costs::Delivery energy = delivery(*chosen[x], number, 0), load = delivery(*chosen[x], number, mix.port);
    border.delivery[x] = {mix.energy * energy.round + mix.load * load.round,
                          mix.energy * energy.asked + mix.load * load.asked,
                          mix.energy * energy.unit + mix.load * load.unit};
    border.copies[x] = copies(*chosen[x], number);
    border.together[x] = served_together(*pair);
  }
  for (int i = 0; i <= k; ++i) border.grows |= resolved_.may_loop[i];
  return border;
}

/// What some tensors must move across the border of memory k beyond once. The innermost loop outside it that moves any
/// of them moves some set of them; each of these is delivered once per iteration of the loops over its uncoupled dims,
/// except over dims that none of them uses. So is one that goes to a memory further inside, unless that holds its share
/// of the tile at once. The others are taken to be delivered once. Larger tiles mean fewer iterations; the capacity of
/// the memory limits them.
double UnrollingBounds::shared_capacity_at(int k, const Chosen& chosen, TensorSet crossing, const Mix& mix,
                                           BestTile* best) const {
  if (std::popcount(crossing) < 2) return 0;  // alone, a tensor may stay while all loops over its uncoupled dims run
  all_.looked_ += effort::kTilesOfSetUp;
  const Border border = border_of(k, chosen, crossing, mix);
  if (p_.capacity[border.level] == kInfinity && k > 0) return 0;
  bool passing = false;
  for (int x = 0; x < p_.tensors; ++x) passing |= passes(border, x);
  // Where there are too many tiles to ask what passes, the other tensors alone.
  double least = -1;
  if (passing) least = over_first_loops(border, chosen, true, best);
  if (least < 0) least = over_first_loops(border, chosen, false, best);
  return at_least<"L4.1">(std::max(0.0, least), 0);
}

/// Does a tensor without windows go to a memory inside this one?
bool UnrollingBounds::passes(const Border& border, int x) const {
  return contains(border.crossing, x) && border.child[x] > border.level && border.child[x] < p_.levels &&
         !contains(resolved_.remembered, x) && p_.capacity[border.child[x]] < kInfinity;
}

/// The best over the sets that a loop can move first. Below 0: too many tiles.
double UnrollingBounds::over_first_loops(const Border& border, const Chosen& chosen, bool passing,
                                         BestTile* best) const {
  FirstSets sets{};
  const int count = first_sets(border.k, border.crossing, border.used, sets);
  Tiles tiles(*this, border.k);
  tiles.holds = held_outside(border.k, chosen);
  tiles.best = kInfinity;
  // Those that move all that passes come first: they are quickly looked through, and cut off the others.
  TensorSet pass = 0;
  for (int x = 0; x < p_.tensors && passing; ++x) pass |= TensorSet{passes(border, x)} << x;
  std::stable_partition(sets.begin(), sets.begin() + count, [&](TensorSet moved) { return (pass & ~moved) == 0; });
  for (int i = 0; i < count; ++i) {
    begin(tiles, border, chosen, sets[i], passing);
    const int before = tiles.looked;
    const double least = tiles.best;
    tiles.grow(0);
    if (best != nullptr && tiles.best < least) *best = best_tile(tiles, border.crossing, sets[i]);
    all_.looked_ += static_cast<std::uint64_t>(tiles.looked - before);
    if (tiles.looked > ChoiceBounds::kMostTiles) return -1;
    if (tiles.best == 0) return 0;
  }
  return tiles.best == kInfinity ? 0 : tiles.best;
}

/// What is delivered again where a loop that moves these tensors comes first.
void UnrollingBounds::begin(Tiles& tiles, const Border& border, const Chosen& chosen, TensorSet first,
                            bool passing) const {
  // Dims whose tiles save deliveries; the others stay as small as they can.
  tiles.dims = tiles.moved = tiles.disturbed = tiles.passing = 0;
  tiles.certain = 0;
  tiles.disturbing = 0;
  const auto repeat = [&](int x, int i) {
    tiles.cost[i] = border.delivery[x];
    tiles.copies[i] = border.copies[x];
    tiles.child[i] = border.child[x];
    tiles.together[i] = border.together[x];
    tiles.repeats[i] = border.used & (contains(border.staying, x) ? chosen[x]->staying : ~p_.coupled[x]);
    for (const int d : members(tiles.repeats[i] & border.grows)) {
      if (tiling().temporal[d] > 1 &&
          std::find(tiles.dim.begin(), tiles.dim.begin() + tiles.dims, d) == tiles.dim.begin() + tiles.dims)
        tiles.dim[tiles.dims++] = d;
    }
  };
  for (int x = 0; x < p_.tensors; ++x) {
    if (border.k == 0 && contains(border.staying, x)) {
      // Loops of the innermost memory repeat such an operand as others do, and move it as others do.
      double times = 1;
      for (const int d : members(chosen[x]->staying & border.used)) times *= tiling().temporal[d];
      if (contains(first, x)) {
        tiles.certain += border.delivery[x].round * (times - 1);
      } else {
        tiles.moved_by[tiles.disturbed] = p_.coupled[x];
        tiles.disturbance[tiles.disturbed++] = border.delivery[x].round * (times - 1);
        tiles.disturbing |= p_.coupled[x];
      }
      continue;
    }
    if (contains(first, x)) repeat(x, tiles.moved++);
  }
  if (!passing) return;
  for (int x = 0; x < p_.tensors; ++x) {
    if (contains(first, x) || !passes(border, x)) continue;
    TensorSet beside = 0;
    for (int y = 0; y < p_.tensors; ++y) beside |= TensorSet{chosen[y]->levels >> border.child[x] & 1U} << y;
    tiles.pass[tiles.passing] = {x, border.child[x], beside};
    tiles.disturbing |= p_.coupled[x];
    repeat(x, tiles.moved + tiles.passing++);
  }
  // Along the others larger tiles are always better: these come last.
  std::stable_partition(tiles.dim.begin(), tiles.dim.begin() + tiles.dims,
                        [&](int d) { return contains(tiles.disturbing, d); });
}

/// Must a tensor that passes come again, for a loop inside this memory moves it? It need not where its memory holds all
/// that its units work on.
bool UnrollingBounds::Tiles::comes_again(const Pass& one) const {
  std::array<double, kMaxDims> share;
  for (const int d : members(bounds.p_.coupled[one.tensor])) {
    share[d] = std::max(1.0, tile[d] * tiling.units[one.memory][d] / tiling.units[level][d]);
  }
  const double words = bounds.all_.words(one.tensor, share);
  return sure<"L4.2">(bounds.resolved_.rules.memory(one.memory).overflows(one.beside, [&](int y) {
    return y == one.tensor ? words : tiling.held[y][one.memory];
  }));
}

UnrollingBounds::Tiles::Tiles(const UnrollingBounds& bounds_in, int k_in)
    : bounds(bounds_in),
      tiling(bounds_in.tiling()),
      k(k_in),
      level(bounds.resolved_.memories[static_cast<std::size_t>(k)]) {
  tile = tiling.inside[level];
  left = tiling.temporal;
  for (int d = 0; d < bounds.p_.dims && !bounds.resolved_.perfect; ++d) {
    most[d] = tiling.tile_known[d] ? 1 : kInfinity;
    largest[d] = (*tiling.growths[d])[k].front().most;
  }
}

/// Each iteration of a dim belongs to one round of one unit, and each of these has no more than a tile of them.
double UnrollingBounds::Tiles::pairs(DimSet counted, DimSet whole, int memory) const {
  double product = 1;
  for (; counted != 0; counted &= counted - 1) {
    const int d = std::countr_zero(counted);
    const bool open = contains(whole, d);
    const double tiles = tiling.inside[memory][d] * (open ? largest[d] : most[d]);
    product *= std::max(open ? 1 : left[d], bounds.p_.size[d] / tiles);
  }
  return at_least<"L4.4">(product, 0);
}

/// Cost of the deliveries beyond the first, dims from `open` on taken to be whole; or of those that smaller tiles do
/// not save.
double UnrollingBounds::Tiles::least_cost(int open, bool all) const {
  DimSet whole = 0, grown = 0;
  for (int i = open; i < dims; ++i) whole |= only(dim[i]);
  double total = certain;
  for (int i = 0; i < open && disturbed > 0; ++i)
    if (tile[dim[i]] > tiling.inside[level][dim[i]]) grown |= only(dim[i]);
  for (int i = 0; i < disturbed && all; ++i)
    if ((moved_by[i] & grown) != 0) total += disturbance[i];
  for (int i = 0; i < moved + (all ? passing : 0); ++i) {
    double rounds = 1;
    for (const int d : members(repeats[i] & ~whole)) rounds *= left[d];
    const bool by_pairs = cost[i].asked != 0 || cost[i].unit != 0;
    if (rounds == 1 && !by_pairs) continue;
    if (i >= moved && !comes_again(pass[i - moved])) continue;
    total += cost[i].round * (rounds - 1);
    if (!by_pairs) continue;
    const double units = pairs(repeats[i], whole, child[i]);
    total += cost[i].unit * std::max(rounds - 1, units - copies[i].busy);
    const double asked = together[i] == child[i] ? units : pairs(repeats[i], whole, together[i]);
    total += cost[i].asked * std::max(rounds - 1, asked - copies[i].asking);
  }
  return total;
}

/// Tiles of one dim after the other, the largest that fits first.
void UnrollingBounds::Tiles::grow(int at) {
  if (++looked > ChoiceBounds::kMostTiles) return;
  if (at == dims) {
    if (const double least = least_cost(dims); least < best) {
      best = least;
      best_left = left;
    }
    return;
  }
  if (disturbing == 0 && least_cost(at) >= best) return;
  const int d = dim[at];
  const double smallest = tiling.inside[level][d];
  const std::vector<Growth>& all = (*tiling.growths[d])[k];
  for (const Growth* growth = bounds.largest_growth(k, d, holds, tile); growth != all.data() + all.size(); ++growth) {
    tile[d] = std::min(smallest * growth->factor, bounds.p_.size[d]);
    left[d] = growth->left;
    most[d] = growth->most;
    // Smaller tiles cost more, unless they leave a tensor where it is.
    const bool disturbs = contains(disturbing, d);
    if (least_cost(at + 1) >= best) {
      if (!disturbs || least_cost(at + 1, false) >= best) break;
      continue;
    }
    grow(at + 1);
    if (at + 1 == dims && !disturbs) break;
  }
  tile[d] = smallest;
  left[d] = tiling.temporal[d];
  most[d] = tiling.tile_known[d] ? 1 : kInfinity;
}

}  // namespace pliant::exact
