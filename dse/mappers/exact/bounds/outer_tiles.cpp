// SPDX-License-Identifier: Apache-2.0
// One border and what it means for the transfers inside it: the tiles of the outermost memory with a capacity.
//
// Every mapping has one tile there. Large ones save deliveries across its border. But what does not fit into a memory
// further in is moved there by a loop inside the border, so it comes again for every round outside it. For each tile
// all functionals are known at least, so the objective is, and the least over the tiles holds for the choice.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "dse/mappers/exact/bounds/choice_bounds.h"

namespace pliant::exact {

namespace {

/// Where there are more tiles this bound is not worth its price.
constexpr int kMostOuterTiles = 4000;

constexpr std::size_t kMostFunctionals = 24;

}  // namespace

class ChoiceBounds::OuterTiles {
 public:
  OuterTiles(const ChoiceBounds& bounds, const Chosen& chosen, double cycles)
      : b_(bounds), p_(bounds.p_), chosen_(chosen), look_(bounds.look_), cycles_(cycles) {}

  /// Is there such a memory, and anything that two tensors share there?
  bool find();
  /// The least objective of any tile, or the limit where none is below it; 0 where there are too many.
  double least(double limit);

 private:
  /// A transfer that comes again, and how often: dims whose rounds repeat it.
  struct Repeated {
    int tensor, child;
    DimSet dims;
    double copies;
    std::array<Costs::Delivery, kMostFunctionals> delivery;
  };

  void add(std::vector<Repeated>& to, int tensor, const KeeperPair& pair) const;
  void find_sets();
  void move_first(TensorSet set);
  void grow(int at);
  double value(int open);
  void repeat(const Repeated& transfer, double rounds, double units, std::array<double, kMostFunctionals>& more) const;
  const Growth* largest(int d);
  bool overflows_inside(const Repeated& transfer) const;
  double units_of(int d, int child, double rounds, const Growth* grown) const;
  const std::vector<Growth>& growths(int d) const { return (*look_.growths[d])[static_cast<std::size_t>(k_)]; }

  const ChoiceBounds& b_;
  const Problem& p_;
  const Chosen& chosen_;
  const Look& look_;
  double cycles_;
  int k_ = 0, level_ = 0;
  std::size_t functionals_ = 0;
  TensorSet holds_ = 0;
  DimSet grows_ = 0, moves_ = 0, used_ = 0;
  std::vector<Repeated> across_, inside_;
  std::vector<TensorSet> sets_;
  std::array<double, kMostFunctionals> once_{}, begun_{};
  TensorSet first_ = 0;              // moved by the first loop outside
  std::array<int, kMaxDims> dim_{};  // along which tiles save deliveries then
  int dims_ = 0, looked_ = 0;
  std::array<double, kMaxDims> tile_{}, left_{};
  std::array<const Growth*, kMaxDims> grown_{};
  double best_ = 0;
};

bool ChoiceBounds::OuterTiles::find() {
  functionals_ = b_.functionals();
  if (functionals_ > kMostFunctionals || b_.resolved_.walks) return false;
  k_ = static_cast<int>(b_.resolved_.memories.size()) - 2;
  while (k_ >= 0 && p_.capacity[b_.resolved_.memories[static_cast<std::size_t>(k_)]] == kInfinity) --k_;
  if (k_ < 0) return false;
  level_ = b_.resolved_.memories[static_cast<std::size_t>(k_)];
  for (int i = 0; i < static_cast<int>(b_.resolved_.memories.size()); ++i)
    (i <= k_ ? grows_ : moves_) |= b_.resolved_.may_loop[static_cast<std::size_t>(i)];
  once_[0] = p_.macs * p_.mac_pj;
  for (int x = 0; x < p_.tensors; ++x) {
    if (chosen_[x]->staying != 0) return false;
    if (chosen_[x]->levels >> level_ & 1U) holds_ |= TensorSet{1} << x;
    for (std::size_t f = 0; f < functionals_; ++f) {
      once_[f] += b_.least_of(*chosen_[x], f);
      begun_[f] += b_.begun(*chosen_[x], f);
    }
    for (const KeeperPair& pair : chosen_[x]->pairs) {
      if (pair.child == p_.levels) continue;
      if (pair.parent < level_ && level_ <= pair.child) add(across_, x, pair);
      if (pair.parent >= level_ && !(b_.resolved_.remembered >> x & 1U)) add(inside_, x, pair);
    }
  }
  for (const Repeated& transfer : across_) used_ |= p_.coupled[transfer.tensor];
  if (across_.size() < 2) return false;
  find_sets();
  return !sets_.empty();
}

void ChoiceBounds::OuterTiles::add(std::vector<Repeated>& to, int tensor, const KeeperPair& pair) const {
  const auto number = static_cast<std::size_t>(&pair - chosen_[tensor]->pairs.data());
  Repeated& transfer = to.emplace_back();
  transfer.tensor = tensor;
  transfer.child = pair.child;
  transfer.dims = ((DimSet{1} << p_.dims) - 1) & ~p_.coupled[tensor];
  transfer.copies = b_.busy(*chosen_[tensor], number);
  for (std::size_t f = 0; f < functionals_; ++f) transfer.delivery[f] = b_.delivery(*chosen_[tensor], number, f);
}

/// What a loop outside can move first; a set that contains another is never better.
void ChoiceBounds::OuterTiles::find_sets() {
  std::vector<TensorSet> all;
  for (DimSet rest = used_ & moves_; rest != 0; rest &= rest - 1) {
    const int d = std::countr_zero(rest);
    if (look_.temporal[d] == 1) continue;
    TensorSet set = 0;
    for (const Repeated& transfer : across_)
      if (p_.is_coupled(transfer.tensor, d)) set |= TensorSet{1} << transfer.tensor;
    all.push_back(set);
  }
  for (const TensorSet set : all) {
    const bool larger = std::ranges::any_of(all, [&](TensorSet other) { return other != set && (other & ~set) == 0; });
    if (!larger && std::ranges::find(sets_, set) == sets_.end()) sets_.push_back(set);
  }
}

double ChoiceBounds::OuterTiles::least(double limit) {
  best_ = limit;
  for (const TensorSet set : sets_) {
    move_first(set);
    grow(0);
    if (looked_ > kMostOuterTiles) break;
  }
  b_.looked_ += 2 * static_cast<std::uint64_t>(looked_);
  return looked_ > kMostOuterTiles ? 0 : best_;
}

void ChoiceBounds::OuterTiles::move_first(TensorSet set) {
  first_ = set;
  dims_ = 0;
  tile_ = look_.inside[level_];
  left_ = look_.temporal;
  grown_.fill(nullptr);
  for (const Repeated& transfer : across_) {
    if (!(set >> transfer.tensor & 1U)) continue;
    for (DimSet rest = transfer.dims & used_ & grows_; rest != 0; rest &= rest - 1) {
      const int d = std::countr_zero(rest);
      if (look_.temporal[d] > 1 && std::find(dim_.begin(), dim_.begin() + dims_, d) == dim_.begin() + dims_)
        dim_[dims_++] = d;
    }
  }
}

/// The first growth along a dim that fits. What is larger than a tile that does not fit does not fit either.
const ChoiceBounds::Growth* ChoiceBounds::OuterTiles::largest(int d) {
  const double before = tile_[d], smallest = look_.inside[level_][d];
  const std::vector<Growth>& all = growths(d);
  const MemoryRules& memory = b_.resolved_.rules.memory(level_);
  const auto found = std::partition_point(all.begin(), all.end() - 1, [&](const Growth& larger) {
    tile_[d] = std::min(smallest * larger.factor, p_.size[d]);
    return memory.overflows(holds_, [&](int x) { return b_.words(x, tile_); });
  });
  tile_[d] = before;
  return &*found;
}

void ChoiceBounds::OuterTiles::grow(int at) {
  if (++looked_ > kMostOuterTiles) return;
  if (at == dims_) {
    best_ = std::min(best_, value(dims_));
    return;
  }
  const int d = dim_[at];
  for (const Growth* growth = largest(d); growth != growths(d).data() + growths(d).size(); ++growth) {
    tile_[d] = std::min(look_.inside[level_][d] * growth->factor, p_.size[d]);
    left_[d] = growth->left;
    grown_[d] = growth;
    // Across the border smaller tiles cost more; inside they may cost less.
    if (at + 1 < dims_ || !inside_.empty()) {
      ++looked_;
      if (value(at + 1 == dims_ ? -1 : at + 1) >= best_) break;
    }
    grow(at + 1);
    if (at + 1 == dims_ && inside_.empty()) break;
  }
  tile_[d] = look_.inside[level_][d];
  left_[d] = look_.temporal[d];
  grown_[d] = nullptr;
}

double ChoiceBounds::OuterTiles::units_of(int d, int child, double rounds, const Growth* grown) const {
  const double most = grown != nullptr ? grown->most : look_.tile_known[d] ? 1 : kInfinity;
  return std::max(rounds, p_.size[d] / (look_.inside[child][d] * most));
}

void ChoiceBounds::OuterTiles::repeat(const Repeated& transfer, double rounds, double units,
                                      std::array<double, kMostFunctionals>& more) const {
  const double deliveries = std::max(rounds - 1, units - transfer.copies);
  for (std::size_t f = 0; f < functionals_; ++f)
    more[f] += transfer.delivery[f].round * (rounds - 1) + transfer.delivery[f].unit * deliveries;
}

/// Is what a unit works on while the tile stays more than its memory holds, of this tensor alone?
bool ChoiceBounds::OuterTiles::overflows_inside(const Repeated& transfer) const {
  std::array<double, kMaxDims> tile = look_.inside[transfer.child];
  for (int i = 0; i < dims_; ++i)
    if (const int d = dim_[i]; grown_[d] != nullptr) tile[d] = std::min(tile[d] * grown_[d]->factor, p_.size[d]);
  return b_.resolved_.rules.memory(transfer.child).overflows(TensorSet{1} << transfer.tensor, [&](int x) {
    return b_.words(x, tile);
  });
}

/// At least, dims from `open` on taken to be whole; of a complete tile with what it costs inside, -1: without.
double ChoiceBounds::OuterTiles::value(int open) {
  const bool complete = open == dims_;
  if (open < 0) open = dims_;
  DimSet whole = 0;
  for (int i = open; i < dims_; ++i) whole |= DimSet{1} << dim_[i];
  std::array<double, kMostFunctionals> more{};
  // Inside the border, too, for no loop before the first one outside moves anything.
  for (const auto* transfers : {&across_, &inside_})
    for (const Repeated& transfer : *transfers) {
      if (!(first_ >> transfer.tensor & 1U)) continue;
      double rounds = 1, units = 1;
      for (DimSet rest = transfer.dims & used_; rest != 0; rest &= rest - 1) {
        const int d = std::countr_zero(rest);
        const bool open_dim = whole >> d & 1U;
        const double left = open_dim ? 1 : left_[d];
        rounds *= left;
        units *= units_of(d, transfer.child, left, open_dim ? &growths(d).front() : grown_[d]);
      }
      repeat(transfer, rounds, units, more);
    }
  if (complete && !inside_.empty()) {
    // Along the other dims the tile may be as large as it can.
    std::array<double, kMaxDims> rounds_of = left_;
    std::array<const Growth*, kMaxDims> grown = grown_;
    for (DimSet rest = grows_; rest != 0; rest &= rest - 1)
      if (const int d = std::countr_zero(rest); grown[d] == nullptr && look_.temporal[d] > 1) {
        grown[d] = largest(d);
        rounds_of[d] = grown[d]->left;
      }
    for (const Repeated& transfer : inside_) {
      if ((first_ >> transfer.tensor & 1U) || !overflows_inside(transfer)) continue;
      double rounds = 1, units = 1;
      for (DimSet rest = transfer.dims; rest != 0; rest &= rest - 1) {
        const int d = std::countr_zero(rest);
        rounds *= rounds_of[d];
        units *= units_of(d, transfer.child, rounds_of[d], grown[d]);
      }
      repeat(transfer, rounds, units, more);
    }
  }
  double cycles = cycles_;
  for (std::size_t f = 1; f < functionals_; ++f)
    cycles = std::max(cycles, once_[f] + std::max(0.0, more[f] - begun_[f]));
  return b_.value(once_[0] + std::max(0.0, more[0] - begun_[0]), cycles, look_.steps);
}

double ChoiceBounds::least_of_outer_tiles(const Chosen& chosen, double cycles, double limit) const {
  OuterTiles tiles(*this, chosen, cycles);
  return tiles.find() ? tiles.least(limit) : 0;
}

}  // namespace pliant::exact
