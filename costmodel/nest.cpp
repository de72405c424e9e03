// SPDX-License-Identifier: Apache-2.0
#include "costmodel/nest.h"

#include <algorithm>
#include <bit>

#include "core/arithmetic.h"
#include "costmodel/displacement.h"
#include "costmodel/imperfect.h"

namespace pliant {

namespace {

/// A position no loop has: the mover of a level where nothing moves.
constexpr std::uint32_t kNoLoop = std::uint32_t{1} << 15;
static_assert(kMaxDims < 15);

}  // namespace

Nest::Nest(const Problem& problem) : problem_(problem), loops_(problem) {
  for (int l = 0; l < problem_.levels; ++l)
    if (problem_.is_memory[l]) memory_[memories_++] = l;
  remembers_ = problem_.conventions.halo == Conventions::Halo::kDisplacement ||
               problem_.conventions.halo == Conventions::Halo::kTwoIterations;
  for (int x = 0; x < problem_.tensors; ++x)
    for_each_bit(loops_.all_dims() & ~problem_.coupled[x],
                 [&](int d) { uncoupled_[x][uncoupled_count_[x]++] = static_cast<std::uint8_t>(d); });
  rate_.resize(problem_.ports.size());
  for (PerLevel& row : copied_) row.at.fill(1);
  every_transfer_.resize(static_cast<std::size_t>(problem_.tensors * memories_ * (memories_ + 1)));
  auto transfer = every_transfer_.begin();
  for (int x = 0; x < problem_.tensors; ++x)
    for (int parent = 0; parent < memories_; ++parent)
      for (int child = 0; child <= memories_; ++child, ++transfer)
        if (parent < child) *transfer = make_transfer(x, parent, child);
  for (TensorCost& cost : tensor_cost_) {
    cost.reads.at.fill(0);
    cost.writes.at.fill(0);
  }
  // Start from the mapping without loops, so that changes may come in any order.
  FlatMapping empty{};
  for (int l = 0; l < problem_.levels; ++l) {
    empty.bound[l].fill(1);
    for (int d = 0; d < problem_.dims; ++d) empty.order[l][d] = static_cast<std::uint8_t>(d);
    empty.keeps[l] = problem_.may_keep[l];
  }
  load(empty);
}

// ---- Changes ----

void Nest::load(const FlatMapping& mapping) {
  loops_.load_bounds(mapping);
  stale_rates_ = true;
  for (int x = 0; x < problem_.tensors; ++x) {
    keepers_[x] = 0;
    ++version_[x];
    refresh_copies(x);
    mark(x);
  }
  for (int i = 0; i < memories_; ++i) {
    const int l = memory_[i];
    keeps_[l] = mapping.keeps[l];
    for (int x = 0; x < problem_.tensors; ++x) keepers_[x] |= (keeps_[l] >> x & 1U) << i;
    loops_.set_order(l, mapping.order[l].data());
  }
}

void Nest::set_bounds(int dim, const Count* bound_by_level) {
  const LoopNest::Change change = loops_.set_bounds(dim, bound_by_level);
  if (change.spatial) {
    stale_rates_ = true;
    for_each_bit(problem_.uncoupled[dim], [&](int x) { refresh_copies(x); });
    // Where sums are whole, outputs are finished, also along a dim that divides them simply.
    if (problem_.outputs_narrow && (problem_.summing >> dim & 1U) != 0) mark(problem_.output);
  }
  // Whom it concerns. Along a simple dim every word is covered once however it is split, so its tensors only care about
  // which loop moves them first: one that appeared or vanished, if no coupled loop of its level stands inside it.
  TensorSet stale = problem_.not_simple[dim];
  if (change.toggled) stale |= problem_.sliding_tensors | change.may_move_now;
  if (remembers_) stale = ~TensorSet{0};
  for_each_bit(stale & below(problem_.tensors), [&](int x) { mark(x); });
  for_each_bit(problem_.windowed[dim], [&](int x) { ++version_[x]; });
}

void Nest::set_order(int level, const std::uint8_t* dims_outermost_first) {
  loops_.set_order(level, dims_outermost_first);
  // The order matters to transfers whose stationary run ends here, or whose sliding run may reach here.
  for (int x = 0; x < problem_.tensors; ++x) {
    if (problem_.sliding[x] != 0 || remembers_) {
      mark(x);
    } else if ((loops_.moving(x) >> level & 1U) != 0) {
      const Chain& chain = chains_[x];
      std::uint32_t ending = 0;
      for (int k = 0; k < chain.count; ++k)
        ending |= std::uint32_t{chain.at[k].base == static_cast<unsigned>(level)} << k;
      stale_transfers_[x] |= ending;
      stale_ |= TensorSet{ending != 0} << x;
    }
  }
}

void Nest::set_keeps(int level, TensorSet keeps) {
  const TensorSet changed = keeps_[level] ^ keeps;
  keeps_[level] = keeps;
  const int i = std::popcount(below(level) & ~problem_.fanouts);
  for_each_bit(changed, [&](int x) {
    const bool chained = chains_[x].keepers == keepers_[x];
    keepers_[x] ^= std::uint32_t{1} << i;
    stale_ |= TensorSet{1} << x;
    if (chained) splice_keeper(x, i);
  });
}

void Nest::mark(int x) {
  stale_ |= TensorSet{1} << x;
  stale_transfers_[x] = ~std::uint32_t{0};
}

void Nest::refresh_copies(int x) {
  double words = problem_.simple_words[x];
  for (int l = 0; l <= problem_.levels; ++l) {
    if (l > 0 && (problem_.fanouts >> (l - 1) & 1U) != 0) {
      words = problem_.simple_words[x];
      for (unsigned k = 0; k < uncoupled_count_[x]; ++k) words *= loops_.spatial_outside(l, uncoupled_[x][k]);
    }
    copied_[x][l] = words;
  }
}

// ---- One tensor ----

/// The mover: the loop that ends the run of loops that leave the child's tile in place. Loops outside it count.
inline Nest::Repeats Nest::repeats_of(unsigned x, const PlannedTransfer& transfer) const {
  const Problem& p = problem_;
  const unsigned uncoupled = uncoupled_count_[x];
  const std::uint8_t* const dims = uncoupled_[x].data();
  Repeats repeats;
  std::uint32_t mover_levels = transfer.mover_levels, mover_floor = transfer.mover_floor;
  if (transfer.may_reuse) [[unlikely]] {
    if ((loops_.moving(x) >> p.innermost_memory & 1U) != 0) {
      mover_levels = 0;
      mover_floor = std::uint32_t{1} << p.levels;
    } else {
      for (unsigned k = 0; k < uncoupled; ++k)
        repeats.times *= loops_.bound(static_cast<unsigned>(p.innermost_memory), dims[k]);
    }
  }
  const std::uint32_t movers = loops_.moving(x) & mover_levels;
  const auto base = static_cast<unsigned>(highest(movers | mover_floor));
  const auto position =
      static_cast<unsigned>(std::countr_zero((loops_.active(base) & loops_.coupled_at(base, x)) | kNoLoop));
  for (unsigned k = 0; k < uncoupled; ++k) {
    const unsigned d = dims[k];
    repeats.times *= loops_.temporal_outside(base + unsigned{loops_.position(base, d) > position}, d);
  }
  repeats.base = base;
  repeats.position = position;
  repeats.moves = movers != 0;
  return repeats;
}

inline void Nest::price_transfer(unsigned x, PlannedTransfer& transfer) {
  const Problem& p = problem_;
  // 1. Iterations of uncoupled dims outside the mover repeat the transfer.
  const Repeats repeats = repeats_of(x, transfer);
  transfer.base = repeats.base;
  // 2. So do copies of uncoupled dims outside parent and child.
  double served = copied_[x][transfer.parent], delivered = copied_[x][transfer.child];
  const double parent_copies = served;
  // 3. Copies of an uncoupled dim under fanouts share one word of the parent, unless the network cannot.
  double unshared = 1;
  if (transfer.unshared != 0) {
    for (unsigned k = 0; k < uncoupled_count_[x]; ++k)
      for_each_bit(transfer.unshared, [&](int l) { unshared *= loops_.bound(l, uncoupled_[x][k]); });
    served *= unshared;
  }
  // 4. Along plain coupled dims every word is covered once, along affine ones windows overlap:
  //    served = simple words * copies of the parent * windows * repeats; delivered alike with copies of the child.
  if (p.affine_dims[x] != 0) {
    const WindowWords& windows = window_words(x, transfer, repeats);
    served *= windows.served;
    delivered *= windows.delivered;
  }
  Transfer& words = transfer.words;
  words.served = served * repeats.times;
  words.delivered = delivered * repeats.times;
  if (remembers_ && words.child != p.levels && p.affine_dims[x] != 0) price_displaced(words, unshared);
  if (x == static_cast<unsigned>(p.output)) count_first(transfer, served, delivered, parent_copies);
}

/// How often the child gets another tile: iterations of the loop that moves it, and of those outside.
double Nest::tiles_visited(unsigned x, const PlannedTransfer& transfer) const {
  if (loops_.imperfect_dims() != 0) return ImperfectTransfers(loops_).tiles_visited(transfer.words);
  double tiles = repeats_of(x, transfer).times;
  for_each_bit(problem_.coupled[x], [&](int d) { tiles *= loops_.temporal_outside(transfer.child, d); });
  return tiles;
}

/// Outputs: the first arrival of a word is a plain write.
void Nest::count_first(PlannedTransfer& transfer, double served, double delivered, double parent_copies) const {
  const Problem& p = problem_;
  Transfer& words = transfer.words;
  const bool per_sweep = p.conventions.first_time == Conventions::FirstTime::kPerSweep;
  words.first_parent = per_sweep ? served : parent_copies;
  words.first_child = delivered;
  if (p.affine_dims[p.output] == 0) return;
  if (!per_sweep) {
    words.first_parent = first_output_words(loops_, words.parent);
    words.first_child = words.child == p.levels ? 0 : first_output_words(loops_, words.child);
  }
  // Boxes have holes, and a convention may let windows count for less than they hold.
  words.first_parent = std::min(words.first_parent, words.served);
  words.first_child = std::min(words.first_child, words.delivered);
}

/// As found before, if nothing that they depend on has changed.
const Nest::WindowWords& Nest::window_words(unsigned x, const PlannedTransfer& transfer, const Repeats& repeats) {
  const Problem& p = problem_;
  MovingLoop mover;
  if (repeats.moves) {
    mover.level = mover.merged_to = static_cast<int>(repeats.base);
    mover.position = static_cast<int>(repeats.position);
    mover.dim = static_cast<int>(loops_.dim_at(repeats.base, repeats.position));
    if (transfer.child != static_cast<unsigned>(p.levels) && (p.sliding[x] >> mover.dim & 1U) != 0) loops_.slide(mover);
  }
  WindowWords& windows = windows_[x][transfer.child_memory];
  if (windows.version != version_[x] || windows.mover_level != mover.level || windows.mover_dim != mover.dim ||
      windows.merged != mover.merged || windows.parent != transfer.words.parent) {
    count_windows(windows, transfer, mover);
    windows.version = version_[x];
    windows.mover_level = mover.level;
    windows.mover_dim = mover.dim;
    windows.merged = mover.merged;
    windows.parent = transfer.words.parent;
  }
  return windows;
}

/// Words of the parent and of all children: extent of the windows, times how many there are.
void Nest::count_windows(WindowWords& windows, const PlannedTransfer& transfer, const MovingLoop& mover) const {
  const Problem& p = problem_;
  const int x = transfer.words.tensor, child = transfer.words.child;
  double visits = 1, at_parent = 1, at_child = 1;
  for_each_bit(p.affine_dims[x], [&](int d) {
    visits *= loops_.temporal_outside(child, d);
    at_parent *= loops_.spatial_outside(transfer.parent, d);
    at_child *= loops_.spatial_outside(child, d);
  });
  if (mover.merged != 1) visits /= mover.merged;
  const auto& ranks = child == p.levels ? p.windows[x] : p.affine[x];
  double extent = 1;
  for (const Problem::AffineRank& rank : ranks) extent *= affine_extent(loops_, rank, child, mover, 0);
  windows.delivered = visits * at_child * extent;
  double at_one_parent = kInfinity;
  for_each_subset(united_fanouts(loops_, x, transfer.fanouts), [&](std::uint32_t united) {
    double words = united == 0 ? extent : 1;
    if (united != 0)
      for (const Problem::AffineRank& rank : ranks) words *= affine_extent(loops_, rank, child, mover, united);
    if (transfer.fanouts != 0)
      for (const Problem::AffineRank& rank : p.windows[x])
        words *= distinct_windows(loops_, rank, x, transfer.fanouts, united);
    at_one_parent = std::min(at_one_parent, words);
  });
  windows.served = visits * at_parent * at_one_parent;
}

/// Timeloop: where several loops move the window, its memory of the last displacement decides.
void Nest::price_displaced(Transfer& words, double unshared) const {
  const Problem& p = problem_;
  const int x = words.tensor, parent = words.parent, child = words.child;
  if (!displacement_decides(loops_, x, child)) return;
  DisplacementWalk walk(loops_, x, child);
  const std::uint32_t fanouts = p.fanouts & below(child) & ~below(parent);
  words.delivered = walk.words();
  words.served = kInfinity;
  for_each_subset(united_fanouts(loops_, x, fanouts), [&](std::uint32_t united) {
    double served = united != 0 ? walk.words(united) : words.delivered;
    for (const Problem::AffineRank& rank : p.windows[x]) served *= distinct_windows(loops_, rank, x, fanouts, united);
    words.served = std::min(words.served, served);
  });
  words.served *= unshared;
  for (int d = 0; d < p.dims; ++d) {
    words.served *= loops_.spatial_outside(p.simple[x] >> d & 1U ? child : parent, d);
    words.delivered *= loops_.spatial_outside(child, d);
  }
}

void Nest::price_tensor(int x) {
  Chain& chain = chains_[x];
  if (chain.keepers != keepers_[x]) {
    chain_keepers(x);
    stale_transfers_[x] = ~std::uint32_t{0};
  }
  const std::uint32_t stale = stale_transfers_[x];
  for (int k = 0; k < chain.count; ++k) {
    if (!(stale >> k & 1U)) continue;
    if (loops_.imperfect_dims() == 0) [[likely]] {
      price_transfer(static_cast<unsigned>(x), chain.at[k]);
    } else {
      ImperfectTransfers(loops_, memory_of_windows_).price(chain.at[k].words);
    }
  }
  stale_transfers_[x] = 0;
  charge_tensor(x);
}

/// Energy of a tensor's words, and its words at the ports of every level.
void Nest::charge_tensor(int x) {
  if (x == problem_.output) {
    charge_output();
    return;
  }
  const Chain& chain = chains_[x];
  TensorCost& cost = tensor_cost_[x];
  double energy = 0;
  for (int k = 0; k < chain.count; ++k) {
    const PlannedTransfer& transfer = chain.at[k];
    energy += transfer.words.served * transfer.served_pj + transfer.words.delivered * transfer.delivered_pj;
    cost.reads[transfer.parent] = transfer.words.served * transfer.parent_words;
    cost.writes[transfer.child] = transfer.words.delivered * transfer.child_words;
  }
  cost.energy_pj = energy;
  if (problem_.networks != 0) charge_networks(x);
}

void Nest::charge_output() {
  const Problem& p = problem_;
  const Chain& chain = chains_[p.output];
  TensorCost& cost = tensor_cost_[p.output];
  double energy = 0, fills = 0, drains = 0;  // at the child of the transfer outside
  for (int k = 0; k < chain.count; ++k) {
    const PlannedTransfer& transfer = chain.at[k];
    const Transfer& words = transfer.words;
    const double read_back = words.served - words.first_parent;
    cost.reads[transfer.parent] = (read_back + drains) * transfer.parent_words;
    cost.writes[transfer.parent] = (words.served + fills) * transfer.parent_words;
    energy += read_back * transfer.read_back_pj + words.served * transfer.served_pj;
    if (words.child == p.levels) break;
    switch (p.conventions.drain) {
      case Conventions::Drain::kCounted: drains = words.delivered; break;
      case Conventions::Drain::kFree: drains = 0; break;
      case Conventions::Drain::kParentWrites: drains = (words.served + fills) * (words.delivered / words.served); break;
    }
    fills = words.delivered - words.first_child;
    energy += fills * transfer.delivered_pj + drains * transfer.drain_pj;
  }
  cost.energy_pj = energy;
  if (p.outputs_narrow) charge_finished();
  if (p.networks != 0) charge_networks(p.output);
}

/// The last arrival of an output is finished, and so is its drain: both are as wide as results, not as partial sums.
/// There are as many last arrivals at an instance as first ones.
void Nest::charge_finished() {
  const Problem& p = problem_;
  const Chain& chain = chains_[p.output];
  TensorCost& cost = tensor_cost_[p.output];
  for (int k = 0; k < chain.count; ++k) {
    const Transfer& words = chain.at[k].words;
    const int parent = words.parent, child = words.child;
    if (sums_whole(parent)) {
      const double saved = words.first_parent * p.finished_saves[parent];
      cost.writes[parent] -= saved;
      cost.energy_pj -= saved * p.update_pj[parent];
    }
    if (child == p.levels || p.conventions.drain != Conventions::Drain::kCounted || !sums_whole(child)) continue;
    const double saved = words.first_child * p.finished_saves[child];
    cost.reads[child] -= saved;
    cost.energy_pj -= saved * p.read_pj[child];
  }
}

bool Nest::sums_whole(int level) const {
  bool whole = true;
  for_each_bit(problem_.summing, [&](int d) { whole &= loops_.spatial_outside(level, d) == 1; });
  return whole;
}

// ---- The whole machine ----

std::span<const Transfer> Nest::transfers() const {
  std::size_t n = 0;
  for (int x = 0; x < problem_.tensors; ++x)
    for (int k = 0; k < chains_[x].count; ++k) {
      transfers_[n] = chains_[x].at[k].words;
      if (transfers_[n].child == problem_.levels) transfers_[n].first_child = 0;
      ++n;
    }
  return {transfers_.data(), n};
}

Totals Nest::price() {
  const Problem& p = problem_;
  // 1. Words and charges of the tensors that a change has touched.
  const bool imperfect = loops_.imperfect_dims() != 0;
  if (imperfect || priced_imperfect_) [[unlikely]] {
    for (int x = 0; x < p.tensors; ++x) mark(x);
    stale_rates_ = true;  // the copies that work at the peak depend on remainders
    priced_imperfect_ = imperfect;
  }
  if (stale_rates_) refresh_rates();
  stale_rates_ = false;
  for_each_bit(stale_, [&](int x) { price_tensor(x); });
  stale_ = 0;
  // 2. Time.
  Totals totals;
  totals.steps = totals.cycles = steps();
  if (p.conventions.stall_rounding == Conventions::StallRounding::kExact) [[likely]] {
    wait_for_ports(totals);
  } else {
    wait_for_demands(totals);
  }
  // 3. Energy.
  double energy = p.macs * p.mac_pj;
  for (int x = 0; x < p.tensors; ++x) energy += tensor_cost_[x].energy_pj;
  totals.energy_pj = energy + p.leak_pj_per_cycle_total * totals.cycles;
  totals.utilization = p.busy_cycles / totals.cycles;
  return totals;
}

}  // namespace pliant
