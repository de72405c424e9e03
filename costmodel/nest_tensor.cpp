// SPDX-License-Identifier: Apache-2.0
// The words of one tensor while factors are perfect, and what they cost.
#include <algorithm>
#include <bit>

#include "costmodel/imperfect.h"
#include "costmodel/nest.h"
#include "costmodel/windows.h"

namespace pliant {

/// The mover ends the run of loops that leave the child's tile in place. Loops over uncoupled dims outside it count.
inline Nest::Repeats Nest::repeats_outside(unsigned x, std::uint32_t mover_levels, std::uint32_t mover_floor) const {
  Repeats repeats;
  const std::uint32_t movers = loops_.moving(x) & mover_levels;
  repeats.moves = movers != 0;
  repeats.base = static_cast<unsigned>(highest(movers | mover_floor));
  const LoopNest::Loops* const at = &loops_.at(repeats.base);
  repeats.position = at->mover(x);
  // Without a branch: whether a loop stands outside the mover is hard to foresee.
  const auto outside = [&](unsigned d) {
    return at[static_cast<unsigned>(at->position[d] > repeats.position)].outside[d];
  };
  const std::uint8_t* const d = uncoupled_[x].data();
  repeats.times = outside(d[0]) * outside(d[1]);  // mostly there are no more
  for (unsigned k = 2; k < uncoupled_count_[x]; ++k) repeats.times *= outside(d[k]);
  return repeats;
}

/// The same with all that compute units may reuse.
Nest::Repeats Nest::repeats_of(unsigned x, const PlannedTransfer& transfer) const {
  if (!transfer.may_reuse) return repeats_outside(x, transfer.mover_levels, transfer.mover_floor);
  const Problem& p = problem_;
  if ((loops_.moving(x) >> p.innermost_memory & 1U) != 0) return repeats_outside(x, 0, std::uint32_t{1} << p.levels);
  Repeats repeats = repeats_outside(x, transfer.mover_levels, transfer.mover_floor);
  for (unsigned k = 0; k < uncoupled_count_[x]; ++k)
    repeats.times *= loops_.bound(static_cast<unsigned>(p.innermost_memory), uncoupled_[x][k]);
  return repeats;
}

MovingLoop Nest::mover_of(const PlannedTransfer& transfer, const Repeats& repeats) const {
  MovingLoop mover;
  if (!repeats.moves) return mover;
  mover.level = mover.merged_to = static_cast<int>(repeats.base);
  mover.position = static_cast<int>(repeats.position);
  mover.dim = loops_.at(repeats.base).dim[repeats.position];
  if ((transfer.sliding >> mover.dim & 1U) != 0) loops_.slide(mover);
  return mover;
}

/// Along every pair of dims: how many windows there are, times how large they are. Those that slide in one run count as
/// one window over all of it, and children may have equal ones.
Nest::Words Nest::multiply_any_windows(unsigned x, const PlannedTransfer& transfer, const MovingLoop& mover,
                                       Words words) const {
  const Windows& windows = windows_[x];
  const unsigned child = transfer.child, ring = transfer.child_ring;
  for (unsigned i = 0; i < windows.count; ++i) {
    const Windows::Pair& pair = windows.pairs[i];
    const unsigned a = pair.first, b = pair.second;
    const bool differ = windows_differ(pair, transfer);
    if (transfer.to_compute && differ) {
      words.delivered *= pair.all;
      words.served *= pair.all;
      continue;
    }
    double each = loops_.temporal_outside(child, a) * loops_.temporal_outside(child, b);
    if (mover.merged == 1 || (mover.dim != static_cast<int>(a) && mover.dim != static_cast<int>(b))) {
      each *= distinct_pair(pair.first_step, loops_.tile(child, a), pair.second_step, loops_.tile(child, b));
    } else {
      each = each / mover.merged * slid_extent(pair, transfer, mover);  // whole numbers, so exact in this order
    }
    const double all = each * (loops_.copies(ring, a) * loops_.copies(ring, b));
    words.delivered *= all;
    words.served *= differ ? all : each * shared_windows(pair, transfer);
  }
  return words;
}

/// Children have different windows, unless both dims are spread over them.
inline bool Nest::windows_differ(const Windows::Pair& pair, const PlannedTransfer& transfer) const {
  return (loops_.present(pair.first) & transfer.equal) == 0 || (loops_.present(pair.second) & transfer.equal) == 0;
}

/// The same where nothing slides and all children have different windows: what is mostly the case is on a path without
/// calls.
inline Nest::Words Nest::multiply_windows(unsigned x, const PlannedTransfer& transfer, const Repeats& repeats,
                                          const Words& before) const {
  const auto any_windows = [&] { return multiply_any_windows(x, transfer, mover_of(transfer, repeats), before); };
  if (repeats.moves && (transfer.sliding >> loops_.at(repeats.base).dim[repeats.position] & 1U) != 0)
    return any_windows();
  const unsigned child = transfer.child, ring = transfer.child_ring;
  const LoopNest::Loops& at = loops_.at(child);
  double all = 1;
  for (const Windows::Pair *pair = windows_[x].pairs.data(), *end = pair + windows_[x].count; pair != end; ++pair) {
    if (!windows_differ(*pair, transfer)) [[unlikely]]
      return any_windows();
    const unsigned a = pair->first, b = pair->second;
    if (transfer.to_compute) {  // every pair of indices once
      all *= pair->all;
    } else {
      all *= at.outside[a] * at.outside[b] *
             distinct_pair(pair->first_step, loops_.tile(child, a), pair->second_step, loops_.tile(child, b)) *
             (loops_.copies(ring, a) * loops_.copies(ring, b));
    }
  }
  return {before.served * all, before.delivered * all};
}

/// The words of a transfer with all that is rare: remainders, reuse at compute units, networks that cannot share words,
/// windows that are no pairs or whose displacement is remembered, outputs with windows.
void Nest::price_odd(unsigned x, PlannedTransfer& transfer) {
  if (loops_.imperfect_dims() != 0) {
    ImperfectTransfers(loops_, memory_of_windows_).price(transfer.words);
    return;
  }
  const Repeats repeats = repeats_of(x, transfer);
  transfer.base = repeats.base;
  const double parent_copies = copied_[x][transfer.parent_ring];
  Words words{parent_copies, copied_[x][transfer.child_ring]};
  double unshared = 1;
  for (unsigned k = 0; k < uncoupled_count_[x]; ++k)
    for_each_bit(transfer.unshared, [&](int l) { unshared *= loops_.bound(l, uncoupled_[x][k]); });
  words.served *= unshared;
  if (windows_[x].any()) {
    const MovingLoop mover = mover_of(transfer, repeats);
    if (windows_[x].count != 0) {
      words = multiply_any_windows(x, transfer, mover, words);
    } else {
      const WindowWords& windows = kept_windows(x, transfer, mover);
      words.served *= windows.served;
      words.delivered *= windows.delivered;
    }
  }
  transfer.words.served = words.served * repeats.times;
  transfer.words.delivered = words.delivered * repeats.times;
  if (remembers_ && windows_[x].any() && !transfer.to_compute) price_displaced(transfer.words, unshared);
  if (x != output_) return;
  transfer.words.first_parent = first_per_sweep_ ? words.served : parent_copies;
  transfer.words.first_child = words.delivered;
  if (windows_[x].any()) count_first(transfer.words);
}

/// How often the child gets another tile: iterations of the loop that moves it, and of those outside. Units of a
/// systolic array hold a word as a memory holds a tile.
double Nest::tiles_visited(unsigned x, const PlannedTransfer& transfer) const {
  if (loops_.imperfect_dims() != 0) return ImperfectTransfers(loops_).tiles_visited(transfer.words);
  const bool within = problem_.conventions.stationarity == Conventions::Stationarity::kWithinLevel;
  const std::uint32_t outside_parent = within ? below(static_cast<int>(transfer.parent)) : 0U;
  double tiles = repeats_outside(x, below(static_cast<int>(transfer.child)) & ~outside_parent,
                                 std::uint32_t{1} << (within ? transfer.parent : 0U))
                     .times;
  for_each_bit(problem_.coupled[x], [&](int d) { tiles *= loops_.temporal_outside(transfer.child, d); });
  return tiles;
}

/// First arrivals where outputs have affine dims.
void Nest::count_first(Transfer& words) const {
  if (!first_per_sweep_) {
    words.first_parent = first_output_words(loops_, words.parent);
    words.first_child = words.child == problem_.levels ? 0 : first_output_words(loops_, words.child);
  }
  // Boxes have holes, and a convention may let windows count for less than they hold.
  words.first_parent = std::min(words.first_parent, words.served);
  words.first_child = std::min(words.first_child, words.delivered);
}

/// The last arrival of an output is finished, and so is its drain: both are as wide as results, not as partial sums.
/// There are as many last arrivals at an instance as first ones.
void Nest::charge_finished() {
  const Problem& p = problem_;
  const Chain& chain = chains_[p.output];
  double *const reads = reads_of(output_), *const writes = writes_of(output_);
  for (int k = 0; k < chain.count; ++k) {
    const Transfer& words = chain.at[k].words;
    const int parent = words.parent, child = words.child;
    if (sums_whole(parent)) {
      const double saved = words.first_parent * p.finished_saves[parent];
      writes[parent] -= saved;
      energy_pj_[p.output] -= saved * p.update_pj[parent];
    }
    if (child == p.levels || p.conventions.drain != Conventions::Drain::kCounted || !sums_whole(child)) continue;
    const double saved = words.first_child * p.finished_saves[child];
    reads[child] -= saved;
    energy_pj_[p.output] -= saved * p.read_pj[child];
  }
}

bool Nest::sums_whole(int level) const {
  bool whole = true;
  for_each_bit(problem_.summing, [&](int d) { whole &= loops_.spatial_outside(level, d) == 1; });
  return whole;
}

/// Outputs that their loops bring back, that other copies sum as well, or that no network adds up on the way. Windows
/// of outputs overlap, so the whole of their dims must be inside.
bool Nest::brings_unfinished() const {
  const Problem& p = problem_;
  const Chain& chain = chains_[p.output];
  for (int k = 0; k < chain.count; ++k) {
    const PlannedTransfer& transfer = chain.at[k];
    if ((p.finished_only >> transfer.parent & 1U) == 0) continue;
    const Repeats repeats = transfer.to_compute ? repeats_outside(output_, 0, std::uint32_t{1} << p.levels)
                                                : repeats_outside(output_, transfer.mover_levels, transfer.mover_floor);
    bool whole = sums_whole(static_cast<int>(transfer.parent)) && repeats.times == 1;
    for_each_bit(p.summing, [&](int d) {
      const bool windows = p.is_coupled(p.output, d);
      whole &= !windows || loops_.temporal_outside(transfer.child, d) == 1;
      for_each_bit(transfer.fanouts & loops_.present(static_cast<unsigned>(d)),
                   [&](int l) { whole &= !windows && p.reduction[l]; });
    });
    if (!whole) return true;
  }
  return false;
}

/// The words of a transfer. While factors are perfect, every word is covered once along plain coupled dims, and windows
/// overlap along affine ones: served = simple words * copies of the parent * windows * repeats; delivered alike with
/// copies of the child.
template <Nest::Kind kKind, bool kOutput>
inline void Nest::price_transfer(unsigned x, PlannedTransfer& transfer) {
  if (kKind == Kind::kAny && (transfer.odd || loops_.imperfect_dims() != 0)) {
    price_odd(x, transfer);
    return;
  }
  const Repeats repeats = repeats_outside(x, transfer.mover_levels, transfer.mover_floor);
  Words words{copied_[x][transfer.parent_ring], copied_[x][transfer.child_ring]};
  if (kKind == Kind::kPairs || (kKind == Kind::kAny && windows_[x].count != 0))
    words = multiply_windows(x, transfer, repeats, words);
  transfer.base = repeats.base;
  transfer.words.served = words.served * repeats.times;
  transfer.words.delivered = words.delivered * repeats.times;
  if constexpr (kOutput) {
    transfer.words.first_parent = words.served;
    transfer.words.first_child = words.delivered;
  }
}

/// The words of a tensor's transfers, outermost first, with their energy and what they are at the ports of every level.
template <Nest::Kind kKind>
inline void Nest::price_input(unsigned x) {
  Chain& chain = chains_[x];
  double energy = 0;
  std::uint32_t stale = stale_transfers_[x];
  for (PlannedTransfer *transfer = chain.at.data(), *end = transfer + chain.count; transfer != end;
       ++transfer, stale >>= 1) {
    if ((stale & 1U) != 0) price_transfer<kKind, false>(x, *transfer);
    const Transfer& now = transfer->words;
    energy += now.served * transfer->served_pj + now.delivered * transfer->delivered_pj;
    passing_[transfer->reads] = now.served * transfer->parent_words;
    passing_[transfer->writes] = now.delivered * transfer->child_words;
  }
  energy_pj_[x] = energy;
}

/// Outputs: the first arrival of a word is a plain write, the others add to what is read back.
template <Nest::Kind kKind>
inline void Nest::price_output() {
  Chain& chain = chains_[output_];
  double energy = 0, fills = 0, drains = 0;  // at the child of the transfer outside
  std::uint32_t stale = stale_transfers_[output_];
  for (PlannedTransfer *transfer = chain.at.data(), *end = transfer + chain.count; transfer != end;
       ++transfer, stale >>= 1) {
    if ((stale & 1U) != 0) price_transfer<kKind, true>(output_, *transfer);
    const Transfer& now = transfer->words;
    const double read_back = now.served - now.first_parent, written = now.served + fills;
    passing_[transfer->reads] = (read_back + drains) * transfer->parent_words;
    passing_[transfer->writes] = written * transfer->parent_words;
    energy += read_back * transfer->read_back_pj + now.served * transfer->served_pj;
    if (transfer->to_compute) break;
    drains = now.delivered;
    if (drain_ != Conventions::Drain::kCounted)
      drains = drain_ == Conventions::Drain::kFree ? 0 : written * (now.delivered / now.served);
    fills = now.delivered - now.first_child;
    energy += fills * transfer->delivered_pj + drains * transfer->drain_pj;
  }
  energy_pj_[output_] = energy;
}

inline void Nest::price_tensor(unsigned x, bool imperfect) {
  if (chains_[x].keepers != keepers_[x]) [[unlikely]] {
    chain_keepers(static_cast<int>(x));
    stale_transfers_[x] = ~std::uint32_t{0};
  }
  const Kind kind = imperfect ? Kind::kAny : kind_[x];
  if (x == output_) {
    kind == Kind::kPlain ? price_output<Kind::kPlain>() : price_output<Kind::kAny>();
    if (problem_.outputs_narrow) charge_finished();
  } else if (kind == Kind::kPlain) {
    price_input<Kind::kPlain>(x);
  } else if (kind == Kind::kPairs) {
    price_input<Kind::kPairs>(x);
  } else {
    price_input<Kind::kAny>(x);
  }
  stale_transfers_[x] = 0;
  if (problem_.networks != 0) charge_networks(static_cast<int>(x));
}

Totals Nest::price() {
  const Problem& p = problem_;
  // 1. Words and charges of the tensors that a change has touched.
  const bool imperfect = loops_.imperfect_dims() != 0;
  if (imperfect || priced_imperfect_) [[unlikely]] {
    mark_all();
    stale_rates_ = true;  // the copies that work at the peak depend on remainders
    priced_imperfect_ = imperfect;
  }
  if (stale_rates_) refresh_rates();
  stale_rates_ = false;
  for_each_bit(stale_, [&](int x) { price_tensor(static_cast<unsigned>(x), imperfect); });
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
  for (int x = 0; x < p.tensors; ++x) energy += energy_pj_[x];
  totals.energy_pj = energy + p.leak_pj_per_cycle_total * totals.cycles;
  totals.utilization = p.busy_cycles / totals.cycles;
  totals.unfinished = p.finished_only != 0 && brings_unfinished();
  return totals;
}

}  // namespace pliant
