// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/bounds/shared_capacity.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "costmodel/bits.h"
#include "dse/mappers/exact/task/effort.h"
#include "dse/mappers/exact/task/ledger.h"

namespace pliant::exact {

/// The tiles that a memory can hold, searched for the one with the fewest deliveries.
class SharedCapacity::Tiles {
 public:
  Tiles(const Tiling& tiling, const Chosen& chosen, const std::array<TensorSet, kMaxLevels>& kept, int k);
  /// What is delivered again where a loop that moves these tensors comes first, and of those that pass.
  void begin(const Border& border, TensorSet first, TensorSet pass);
  void grow(int at);

  const Tiling& tiling;
  const Chosen& chosen;
  const std::array<TensorSet, kMaxLevels>& kept;
  int k, level;  // the memory, counted from the innermost outwards, and where it stands
  Tiling::Held holds;
  std::array<double, kMaxDims> tile{}, left{}, best_left{};
  std::array<int, kMaxDims> dim{};  // those that grow
  int dims = 0, looked = 0;
  double best = kInfinity;

 private:
  /// A delivery, and which rounds repeat it.
  struct Repeated {
    Costs::Delivery cost;
    UnrollingBounds::Copies copies;
    int child, together;
    DimSet repeats;
  };
  void repeat(const Border& border, int tensor, int at);
  /// Units of a memory and rounds of some dims together, each of which has at most such a tile.
  double pairs(DimSet dims, DimSet whole, int memory) const;
  double least_cost(int open, bool all = true) const;
  bool comes_again(int passing_tensor, int memory) const;

  const Problem& p = tiling.problem;
  std::array<double, kMaxDims> most{}, largest{};  // a unit's tile over its smallest: now, and of all
  std::array<Repeated, kMaxTensors> repeated{};    // those that are moved, then those that pass
  std::array<double, kMaxTensors> disturbance{};   // of operands that stay unless the tile grows along their dims
  std::array<DimSet, kMaxTensors> moved_by{};
  std::array<int, kMaxTensors> passing_tensor{};
  DimSet disturbing = 0;  // dims along which a larger tile may cost more
  int moved = 0, passing = 0, disturbed = 0;
  double certain = 0;
};

std::array<TensorSet, kMaxLevels> SharedCapacity::from_outside(const Chosen& chosen) const {
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
std::array<TensorSet, kMaxLevels> SharedCapacity::counted_at(int border, const Chosen& chosen) const {
  std::array<TensorSet, kMaxLevels> counted = from_outside(chosen);
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

std::vector<SharedCapacity::BestTile> SharedCapacity::best_tiles(std::size_t keep_choice) const {
  const Chosen chosen = bounds_.patterns(keep_choice);
  const auto memories = static_cast<int>(resolved_.memories.size());
  const std::array<TensorSet, kMaxLevels> kept = from_outside(chosen);
  std::vector<BestTile> best;
  double most = -1;
  for (int border = -1; border + 1 < memories; ++border) {
    const std::array<TensorSet, kMaxLevels> counted = counted_at(border, chosen);
    std::vector<BestTile> tiles(resolved_.memories.size() - 1);
    double total = 0;
    for (int k = 0; k + 1 < memories; ++k) {
      // Alone, a tensor stays while all loops over its uncoupled dims run.
      if (std::popcount(kept[k]) == 1) tiles[k].first = ~p_.coupled[std::countr_zero(kept[k])];
      total += at(k, chosen, counted[k], {1, 0, 0}, &tiles[k]);
    }
    if (total <= most) continue;
    most = total;
    best = std::move(tiles);
  }
  return best;
}

double SharedCapacity::least(const Chosen& chosen, const Mix& mix, const std::function<bool(double)>& enough) const {
  const int memories = static_cast<int>(resolved_.memories.size());
  const std::array<TensorSet, kMaxLevels> kept = from_outside(chosen);
  double best = 0;
  for (int border = -1; border + 1 < memories; ++border) {
    const std::array<TensorSet, kMaxLevels> counted = border < 0 ? kept : counted_at(border, chosen);
    if (border >= 0 && counted[border] == kept[border]) continue;
    double total = border < 0 ? 0 : at(border, chosen, counted[border], mix);
    if (border >= 0 && total == 0) continue;
    for (int k = 0; k + 1 < memories && (total == 0 || !enough(total)); ++k)
      if (k != border) total += at(k, chosen, counted[k], mix);
    best = std::max(best, total);
    if (enough(best)) return best;
  }
  return best;
}

SharedCapacity::BestTile SharedCapacity::best_tile(const Tiles& tiles, TensorSet crossing,
                                                   TensorSet moved_first) const {
  BestTile best{0, tiles.best_left, 0};
  for (int i = 0; i < tiles.dims; ++i) best.grown |= only(tiles.dim[i]);
  for (int d = 0; d < p_.dims; ++d) best.first |= DimSet{bounds_.tiling().moved_along(d, crossing) == moved_first} << d;
  return best;
}

SharedCapacity::Border SharedCapacity::border_of(int k, const Chosen& chosen, TensorSet crossing,
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
    const Costs::Delivery energy = bounds_.delivery(*chosen[x], number, 0),
                          load = bounds_.delivery(*chosen[x], number, mix.port);
    border.delivery[x] = {mix.energy * energy.round + mix.load * load.round,
                          mix.energy * energy.asked + mix.load * load.asked,
                          mix.energy * energy.unit + mix.load * load.unit};
    border.copies[x] = bounds_.copies(*chosen[x], number);
    border.together[x] = bounds_.served_together(*pair);
  }
  for (int i = 0; i <= k; ++i) border.grows |= resolved_.may_loop[i];
  return border;
}

/// What some tensors must move across the border of memory k beyond once. The innermost loop outside it that moves any
/// of them moves some set of them; each of these is delivered once per iteration of the loops over its uncoupled dims,
/// except over dims that none of them uses. So is one that goes to a memory further inside, unless that holds its share
/// of the tile at once. The others are taken to be delivered once. Larger tiles mean fewer iterations; the capacity of
/// the memory limits them.
double SharedCapacity::at(int k, const Chosen& chosen, TensorSet crossing, const Mix& mix, BestTile* best) const {
  if (std::popcount(crossing) < 2) return 0;  // alone, a tensor may stay while all loops over its uncoupled dims run
  bounds_.choice_bounds().count_looked(effort::kTilesOfSetUp);
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
bool SharedCapacity::passes(const Border& border, int x) const {
  return contains(border.crossing, x) && border.child[x] > border.level && border.child[x] < p_.levels &&
         !contains(resolved_.remembered, x) && p_.capacity[border.child[x]] < kInfinity;
}

/// The best over the sets that a loop can move first. Below 0: too many tiles.
double SharedCapacity::over_first_loops(const Border& border, const Chosen& chosen, bool passing,
                                        BestTile* best) const {
  const Tiling& tiling = bounds_.tiling();
  Tiling::FirstSets sets{};
  const int count = tiling.first_sets(border.k, border.crossing, border.used, sets);
  const std::array<TensorSet, kMaxLevels> kept = bounds_.choice_bounds().kept(chosen);
  Tiles tiles(tiling, chosen, kept, border.k);
  // Those that move all that passes come first: they are quickly looked through, and cut off the others.
  TensorSet pass = 0;
  for (int x = 0; x < p_.tensors && passing; ++x) pass |= TensorSet{passes(border, x)} << x;
  std::stable_partition(sets.begin(), sets.begin() + count, [&](TensorSet moved) { return (pass & ~moved) == 0; });
  for (int i = 0; i < count; ++i) {
    tiles.begin(border, sets[i], pass);
    const int before = tiles.looked;
    const double least = tiles.best;
    tiles.grow(0);
    if (best != nullptr && tiles.best < least) *best = best_tile(tiles, border.crossing, sets[i]);
    bounds_.choice_bounds().count_looked(static_cast<std::uint64_t>(tiles.looked - before));
    if (tiles.looked > KnownGrowths::kMostTiles) return -1;
    if (tiles.best == 0) return 0;
  }
  return tiles.best == kInfinity ? 0 : tiles.best;
}

void SharedCapacity::Tiles::repeat(const Border& border, int x, int at) {
  const DimSet rounds = border.used & (contains(border.staying, x) ? chosen[x]->staying : ~p.coupled[x]);
  repeated[at] = {border.delivery[x], border.copies[x], border.child[x], border.together[x], rounds};
  for (const int d : members(rounds & border.grows))
    if (tiling.temporal[d] > 1 && std::find(dim.begin(), dim.begin() + dims, d) == dim.begin() + dims) dim[dims++] = d;
}

void SharedCapacity::Tiles::begin(const Border& border, TensorSet first, TensorSet pass) {
  // Dims whose tiles save deliveries; the others stay as small as they can.
  dims = moved = disturbed = passing = 0;
  certain = 0;
  disturbing = 0;
  for (int x = 0; x < p.tensors; ++x) {
    if (border.k > 0 || !contains(border.staying, x)) {
      if (contains(first, x)) repeat(border, x, moved++);
      continue;
    }
    // Loops of the innermost memory repeat such an operand as others do, and move it as others do.
    double times = 1;
    for (const int d : members(chosen[x]->staying & border.used)) times *= tiling.temporal[d];
    const double more = border.delivery[x].round * (times - 1);
    if (contains(first, x)) {
      certain += more;
    } else {
      moved_by[disturbed] = p.coupled[x];
      disturbance[disturbed++] = more;
      disturbing |= p.coupled[x];
    }
  }
  if (pass == 0) return;
  for (const int x : members(pass & ~first)) {
    disturbing |= p.coupled[x];
    passing_tensor[passing] = x;
    repeat(border, x, moved + passing++);
  }
  // Along the others larger tiles are always better: these come last.
  std::stable_partition(dim.begin(), dim.begin() + dims, [&](int d) { return contains(disturbing, d); });
}

/// Must a tensor that passes come again, for a loop inside this memory moves it? It need not where its memory holds all
/// that its units work on.
bool SharedCapacity::Tiles::comes_again(int x, int memory) const {
  std::array<double, kMaxDims> share;
  for (const int d : members(p.coupled[x]))
    share[d] = std::max(1.0, tile[d] * tiling.units[memory][d] / tiling.units[level][d]);
  const double words = tiling.words(x, share);
  return sure<"L4.2">(tiling.resolved.rules.memory(memory).overflows(
      kept[memory], [&](int y) { return y == x ? words : tiling.held[y][memory]; }));
}

SharedCapacity::Tiles::Tiles(const Tiling& tiling_in, const Chosen& chosen_in,
                             const std::array<TensorSet, kMaxLevels>& kept_in, int k_in)
    : tiling(tiling_in),
      chosen(chosen_in),
      kept(kept_in),
      k(k_in),
      level(tiling.resolved.memories[static_cast<std::size_t>(k)]),
      holds(tiling.held_outside(k, kept)),
      tile(tiling.inside[level]),
      left(tiling.temporal) {
  for (int d = 0; d < p.dims && !tiling.resolved.perfect; ++d) {
    most[d] = tiling.tile_known[d] ? 1 : kInfinity;
    largest[d] = tiling.growths_at(k, d).front().most;
  }
}

/// Each iteration of a dim belongs to one round of one unit, and each of these has no more than a tile of them.
double SharedCapacity::Tiles::pairs(DimSet counted, DimSet whole, int memory) const {
  double product = 1;
  for (; counted != 0; counted &= counted - 1) {
    const int d = std::countr_zero(counted);
    const bool open = contains(whole, d);
    const double tiles = tiling.inside[memory][d] * (open ? largest[d] : most[d]);
    product *= std::max(open ? 1 : left[d], p.size[d] / tiles);
  }
  return at_least<"L4.4">(product, 0);
}

/// Cost of the deliveries beyond the first, dims from `open` on taken to be whole; or of those that smaller tiles do
/// not save.
double SharedCapacity::Tiles::least_cost(int open, bool all) const {
  DimSet whole = 0, grown = 0;
  for (int i = open; i < dims; ++i) whole |= only(dim[i]);
  double total = certain;
  for (int i = 0; i < open && disturbed > 0; ++i)
    if (tile[dim[i]] > tiling.inside[level][dim[i]]) grown |= only(dim[i]);
  for (int i = 0; i < disturbed && all; ++i)
    if ((moved_by[i] & grown) != 0) total += disturbance[i];
  for (int i = 0; i < moved + (all ? passing : 0); ++i) {
    const auto& [cost, copies, child, together, repeats] = repeated[i];
    double rounds = 1;
    for (const int d : members(repeats & ~whole)) rounds *= left[d];
    const bool by_pairs = cost.asked != 0 || cost.unit != 0;
    if (rounds == 1 && !by_pairs) continue;
    if (i >= moved && !comes_again(passing_tensor[i - moved], child)) continue;
    total += cost.round * (rounds - 1);
    if (!by_pairs) continue;
    const double units = pairs(repeats, whole, child);
    total += cost.unit * std::max(rounds - 1, units - copies.busy);
    const double asked = together == child ? units : pairs(repeats, whole, together);
    total += cost.asked * std::max(rounds - 1, asked - copies.asking);
  }
  return total;
}

/// Tiles of one dim after the other, the largest that fits first.
void SharedCapacity::Tiles::grow(int at) {
  if (++looked > KnownGrowths::kMostTiles) return;
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
  const std::vector<Growth>& all = tiling.growths_at(k, d);
  for (const Growth* growth = tiling.largest_growth(k, d, holds, tile); growth != all.data() + all.size(); ++growth) {
    tile[d] = std::min(smallest * growth->factor, p.size[d]);
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
