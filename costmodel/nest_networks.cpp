// SPDX-License-Identifier: Apache-2.0
// What lies between the keepers of a tensor: energy of the networks its words pass, and the time in which a systolic
// array is filled and drained.
#include <algorithm>

#include "costmodel/bits.h"
#include "costmodel/imperfect.h"
#include "costmodel/nest.h"

namespace pliant {

/// A word goes to every copy of the child on its own, but passes a fanout once for all those further in that take it:
/// copies of dims that the tensor does not use, under fanouts that share words. Outputs come back the same way, and
/// what they add to goes there first, unless they start at zero.
double Nest::network_energy(const Transfer& transfer, int fanout) const {
  const Problem& p = problem_;
  const int x = transfer.tensor;
  const double bits = p.element_words[transfer.parent][x] * p.word_bits[transfer.parent];
  double moved = transfer.delivered * bits;
  if (x == p.output && transfer.child < p.levels) {
    moved += (transfer.delivered - transfer.first_child) * bits;
    if (sums_whole(transfer.child))
      moved -= transfer.first_child * p.finished_saves[transfer.parent] * p.word_bits[transfer.parent];
  }
  const std::uint32_t merged = p.fanouts & below(transfer.child) & ~below(fanout + 1) & p.sharing[x];
  double share = 1;
  if (merged != 0 && loops_.imperfect_dims() != 0) {
    share = ImperfectTransfers(loops_).share_merged(transfer, merged);
  } else {
    for_each_bit(merged, [&](int l) {
      for (unsigned k = 0; k < uncoupled_count_[x]; ++k) share /= loops_.bound(l, uncoupled_[x][k]);
    });
  }
  return moved * share * p.network_pj[fanout];
}

void Nest::charge_networks(int x) {
  const Chain& chain = chains_[x];
  for (int k = 0; k < chain.count; ++k)
    for_each_bit(chain.at[k].fanouts & problem_.networks,
                 [&](int l) { energy_pj_[x] += network_energy(chain.at[k].words, l); });
}

/// The array stops for every tile. Unless the memory that takes the tile has room for two: then the next one comes in
/// while this one is in use, and what follows it starts behind it, so that only the first fill and the last drain show,
/// and what a tile takes longer to come than the steps of the one before.
double Nest::fill_cycles(const Port& array) const {
  const auto x = static_cast<unsigned>(array.stationary);
  const Chain& chain = chains_[x];
  for (int k = 0; k < chain.count; ++k) {
    const PlannedTransfer& transfer = chain.at[k];
    if ((transfer.fanouts >> array.level & 1U) == 0) continue;
    const double shift = array.shift * (transfer.to_compute ? 1 : footprint(transfer.words.child, array.stationary));
    if (array.once) return shift + array.skew;
    if (transfer.to_compute || !problem_.prefetches[transfer.child])
      return tiles_visited(x, transfer) * (shift + array.skew);
    if (loops_.imperfect_dims() != 0)
      return shift + array.skew + ImperfectTransfers(loops_).steps_too_few(transfer.words, shift);
    const double tiles = tiles_visited(x, transfer);
    return shift + array.skew + (tiles - 1) * std::max(0.0, shift - steps() / tiles);
  }
  return 0;
}

}  // namespace pliant
