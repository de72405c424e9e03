// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/bounds/border_tiles.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "costmodel/bits.h"
#include "dse/mappers/exact/task/ledger.h"

namespace pliant::exact {

namespace {

/// Where there are more tiles this bound is not worth its price.
constexpr int kMostBorderTiles = 4000;

constexpr std::size_t kMostFunctionals = 24, kMostTransfers = 16;

class BorderTiles {
 public:
  using Chosen = UnrollingBounds::Chosen;

  BorderTiles(const UnrollingBounds& bounds, const Chosen& chosen, int k, double cycles)
      : b_(bounds),
        resolved_(bounds.resolved()),
        p_(resolved_.problem),
        chosen_(chosen),
        kept_(bounds.choice_bounds().kept(chosen)),
        tiling_(bounds.tiling()),
        cycles_(cycles),
        k_(k),
        level_(resolved_.memories[static_cast<std::size_t>(k)]) {}

  /// Is there anything that two tensors share at the border?
  bool find();
  /// The least objective of any tile, or the limit where none is below it; 0 where there are too many.
  double least(double limit);

 private:
  /// A transfer that may come again, and how often: dims whose rounds repeat it.
  struct Repeated {
    int tensor, child;
    bool crosses;    // the border; the others are inside it
    bool overflows;  // comes again where its memory cannot hold all that a unit works on
    DimSet dims;
    int together;  // memory whose units are served together
    double open;   // units of open fanouts that may be, too
    UnrollingBounds::Copies copies;
    /// Of a dim, without loops inside the border: tiles of a unit, and of those that are served together.
    std::array<double, kMaxDims> tiles, tiles_together;
    std::array<Costs::Delivery, kMostFunctionals> delivery;
  };

  bool add(int tensor, const KeeperPair& pair);
  void move_first(TensorSet set);
  void list_dims(const Repeated& transfer, DimSet rounds);
  void grow(int at);
  double value(int open, bool overflows);
  void repeat(const Repeated& transfer, DimSet whole, DimSet dims, std::array<double, kMostFunctionals>& more) const;
  const Growth* largest(int d) { return tiling_.largest_growth(k_, d, holds_, tile_); }
  bool overflows_inside(const Repeated& transfer) const;
  const std::vector<Growth>& growths(int d) const { return tiling_.growths_at(k_, d); }

  const UnrollingBounds& b_;
  const ResolvedTask& resolved_;
  const Problem& p_;
  const Chosen& chosen_;
  const std::array<TensorSet, kMaxLevels> kept_;
  const Tiling& tiling_;
  double cycles_;
  int k_, level_;  // the memory, counted from the innermost outwards, and where it stands
  std::size_t functionals_ = 0;
  Tiling::Held holds_{};
  TensorSet crossing_ = 0;
  DimSet grows_ = 0, used_ = 0;
  std::array<Repeated, kMostTransfers> transfers_;
  int count_ = 0;
  Tiling::FirstSets sets_{};
  int set_count_ = 0;
  std::array<double, kMostFunctionals> once_{}, begun_{};
  TensorSet first_ = 0;              // moved by the first loop outside
  bool may_overflow_ = false;        // any of the others
  std::array<int, kMaxDims> dim_{};  // along which tiles are looked at
  int dims_ = 0, looked_ = 0;
  std::array<double, kMaxDims> tile_{}, left_{};
  std::array<const Growth*, kMaxDims> grown_{};
  double best_ = 0;
};

bool BorderTiles::find() {
  functionals_ = b_.functionals();
  for (int i = 0; i <= k_; ++i) grows_ |= resolved_.may_loop[static_cast<std::size_t>(i)];
  holds_ = tiling_.held_outside(k_, kept_);
  once_[0] = p_.macs * p_.mac_pj;
  for (int x = 0; x < p_.tensors; ++x) {
    if (chosen_[x]->staying != 0) return false;
    for (std::size_t f = 0; f < functionals_; ++f) {
      once_[f] += b_.least_of(*chosen_[x], f);
      begun_[f] += b_.begun(*chosen_[x], f);
    }
    for (const KeeperPair& pair : chosen_[x]->pairs)
      if (pair.child < p_.levels && pair.child >= level_ && !add(x, pair)) return false;
  }
  for (int x = 0; x < p_.tensors; ++x)
    if (contains(crossing_, x)) used_ |= p_.coupled[x];
  if (std::popcount(crossing_) < 2) return false;
  set_count_ = tiling_.first_sets(k_, crossing_, used_, sets_);
  return set_count_ > 0;
}

bool BorderTiles::add(int tensor, const KeeperPair& pair) {
  const bool crosses = pair.parent < level_, remembered = contains(resolved_.remembered, tensor);
  if (crosses) crossing_ |= only(tensor);
  if (!crosses && remembered) return true;
  if (count_ == static_cast<int>(kMostTransfers)) return false;
  const auto number = static_cast<std::size_t>(&pair - chosen_[tensor]->pairs.data());
  Repeated& transfer = transfers_[count_++];
  transfer.tensor = tensor;
  transfer.child = pair.child;
  transfer.crosses = crosses;
  transfer.overflows = pair.child > level_ && !remembered && p_.capacity[pair.child] < kInfinity;
  transfer.dims = ((only(p_.dims)) - 1) & ~p_.coupled[tensor];
  transfer.together = b_.served_together(pair);
  transfer.open = transfer.together == pair.child ? 1 : b_.open_between(pair);
  transfer.copies = b_.copies(*chosen_[tensor], number);
  for (const int d : members(transfer.dims)) {
    transfer.tiles[d] = p_.size[d] / tiling_.inside[transfer.child][d];
    transfer.tiles_together[d] = p_.size[d] / tiling_.inside[transfer.together][d];
  }
  for (std::size_t f = 0; f < functionals_; ++f) transfer.delivery[f] = b_.delivery(*chosen_[tensor], number, f);
  return true;
}

double BorderTiles::least(double limit) {
  best_ = limit;
  for (int i = 0; i < set_count_ && looked_ <= kMostBorderTiles; ++i) {
    move_first(sets_[i]);
    grow(0);
  }
  b_.choice_bounds().count_looked(2 * static_cast<std::uint64_t>(looked_));
  return looked_ > kMostBorderTiles ? 0 : best_;
}

void BorderTiles::list_dims(const Repeated& transfer, DimSet rounds) {
  for (const int d : members(transfer.dims & rounds & grows_)) {
    if (tiling_.temporal[d] > 1 && std::find(dim_.begin(), dim_.begin() + dims_, d) == dim_.begin() + dims_)
      dim_[dims_++] = d;
  }
}

void BorderTiles::move_first(TensorSet set) {
  first_ = set;
  dims_ = 0;
  may_overflow_ = false;
  tile_ = tiling_.inside[level_];
  left_ = tiling_.temporal;
  grown_.fill(nullptr);
  for (int i = 0; i < count_; ++i)
    if (transfers_[i].crosses && contains(set, transfers_[i].tensor)) list_dims(transfers_[i], used_);
  for (int i = 0; i < count_; ++i) {
    if (contains(set, transfers_[i].tensor) || !transfers_[i].overflows) continue;
    may_overflow_ = true;
    if (transfers_[i].crosses) list_dims(transfers_[i], ~DimSet{0});
  }
}

void BorderTiles::grow(int at) {
  if (++looked_ > kMostBorderTiles) return;
  if (at == dims_) {
    best_ = std::min(best_, value(dims_, may_overflow_));
    return;
  }
  const int d = dim_[at];
  for (const Growth* growth = largest(d); growth != growths(d).data() + growths(d).size(); ++growth) {
    tile_[d] = std::min(tiling_.inside[level_][d] * growth->factor, p_.size[d]);
    left_[d] = growth->left;
    grown_[d] = growth;
    // Across the border smaller tiles cost more; inside they may cost less.
    if (at + 1 < dims_ || may_overflow_) {
      ++looked_;
      if (value(at + 1, false) >= best_) break;
      if (at + 1 < dims_ && may_overflow_ && value(at + 1, true) >= best_) continue;
    }
    grow(at + 1);
    if (at + 1 == dims_ && !may_overflow_) break;
  }
  tile_[d] = tiling_.inside[level_][d];
  left_[d] = tiling_.temporal[d];
  grown_[d] = nullptr;
}

/// Deliveries beyond the first, in every round over these dims; some are taken to be whole.
void BorderTiles::repeat(const Repeated& transfer, DimSet whole, DimSet dims,
                         std::array<double, kMostFunctionals>& more) const {
  double rounds = 1, units = 1, asked = 1;
  for (const int d : members(transfer.dims & dims)) {
    const bool open = contains(whole, d);
    const Growth* const grown = open ? &growths(d).front() : grown_[d];
    const double left = open ? 1 : left_[d];
    const double most = grown != nullptr ? grown->most : tiling_.tile_known[d] ? 1 : kInfinity;
    const double share = most == 1 ? 1 : 1 / most;
    rounds *= left;
    units *= std::max(left, transfer.tiles[d] * share);
    asked *= std::max(left, transfer.tiles_together[d] * share);
  }
  units = std::max(rounds - 1, units - transfer.copies.busy);
  asked = std::max({rounds / transfer.open - 1, asked / transfer.open - transfer.copies.asking, 0.0});
  for (std::size_t f = 0; f < functionals_; ++f) {
    const Costs::Delivery& delivery = transfer.delivery[f];
    more[f] += delivery.round * (rounds - 1) + delivery.asked * asked + delivery.unit * units;
  }
}

/// Is what a unit works on while the tile stays more than its memory holds of this tensor, beside the least of others?
bool BorderTiles::overflows_inside(const Repeated& transfer) const {
  std::array<double, kMaxDims> tile = tiling_.inside[transfer.child];
  for (int i = 0; i < dims_; ++i)
    if (const int d = dim_[i]; grown_[d] != nullptr) tile[d] = std::min(tile[d] * grown_[d]->factor, p_.size[d]);
  return sure<"L4.8">(resolved_.rules.memory(transfer.child).overflows(kept_[transfer.child], [&](int x) {
    return x == transfer.tensor ? tiling_.words(x, tile) : tiling_.held[x][transfer.child];
  }));
}

/// At least, dims from `open` on taken to be whole; with what comes again as it overflows inside, or without.
double BorderTiles::value(int open, bool overflows) {
  DimSet whole = 0;
  for (int i = open; i < dims_; ++i) whole |= only(dim_[i]);
  std::array<double, kMostFunctionals> more{};
  // Inside the border, too, for no loop before the first one outside moves anything.
  for (int i = 0; i < count_; ++i)
    if (contains(first_, transfers_[i].tensor)) repeat(transfers_[i], whole, used_, more);
  if (overflows) {
    // Along the other dims the tile may be as large as it can.
    const std::array<double, kMaxDims> left = left_;
    const std::array<const Growth*, kMaxDims> grown = grown_;
    for (const int d : members(grows_ & ~whole))
      if (grown_[d] == nullptr && tiling_.temporal[d] > 1) {
        grown_[d] = open == dims_ ? largest(d) : &growths(d).front();
        left_[d] = grown_[d]->left;
      }
    for (int i = 0; i < count_; ++i)
      if (!contains(first_, transfers_[i].tensor) && transfers_[i].overflows && overflows_inside(transfers_[i]))
        repeat(transfers_[i], whole, ~DimSet{0}, more);
    left_ = left;
    grown_ = grown;
  }
  double cycles = cycles_;
  for (std::size_t f = 1; f < functionals_; ++f)
    cycles = std::max(cycles, once_[f] + std::max(0.0, more[f] - begun_[f]));
  return b_.value(once_[0] + std::max(0.0, more[0] - begun_[0]), cycles);
}

}  // namespace

double least_of_border_tiles(const UnrollingBounds& bounds, const UnrollingBounds::Chosen& chosen, int k, double cycles,
                             double limit) {
  const ResolvedTask& resolved = bounds.resolved();
  if (bounds.functionals() > kMostFunctionals || resolved.walks) return 0;
  if (resolved.problem.capacity[resolved.memories[static_cast<std::size_t>(k)]] == kInfinity) return 0;
  BorderTiles tiles(bounds, chosen, k, cycles);
  return tiles.find() ? at_least<"L4.7">(tiles.least(limit), 0) : 0;
}

}  // namespace pliant::exact
