// SPDX-License-Identifier: Apache-2.0
// The transfers of every tensor between neighbouring keepers: made once for all that can occur, put together as bypass
// says.
#include <algorithm>
#include <bit>

#include "costmodel/bits.h"
#include "costmodel/nest.h"

namespace pliant {

Nest::PlannedTransfer Nest::make_transfer(int x, int parent_memory, int child_memory) const {
  const Problem& p = problem_;
  const int parent = memory_[parent_memory], child = child_memory < memories_ ? memory_[child_memory] : p.levels;
  PlannedTransfer plan;
  plan.words.tensor = static_cast<std::int8_t>(x);
  plan.words.parent = static_cast<std::int8_t>(parent);
  plan.words.child = static_cast<std::int8_t>(child);
  plan.parent = static_cast<unsigned>(parent);
  plan.child = static_cast<unsigned>(child);
  plan.parent_memory = static_cast<unsigned>(parent_memory);
  plan.child_memory = static_cast<unsigned>(child_memory);
  plan.parent_ring = loops_.ring(plan.parent);
  plan.child_ring = loops_.ring(plan.child);
  plan.fanouts = p.fanouts & below(child) & ~below(parent);
  plan.sliding = child == p.levels ? 0 : p.sliding[x];
  plan.unshared = plan.fanouts & ~p.sharing[x];
  plan.equal = plan.fanouts & p.sharing_equal[x];
  // Where the mover may stand. Towards compute every loop counts, unless the conventions know reuse there as well.
  const bool within = p.conventions.stationarity == Conventions::Stationarity::kWithinLevel;
  const bool to_compute = child == p.levels;
  plan.may_reuse = to_compute && parent != p.innermost_memory &&
                   p.conventions.compute_reuse == Conventions::ComputeReuse::kOutsideInnermostMemory;
  plan.to_compute = to_compute;
  const Windows& windows = windows_[x];
  plan.odd =
      plan.may_reuse || plan.unshared != 0 || !windows.kept.empty() || (windows.any() && (remembers_ || x == p.output));
  const int inside = to_compute ? p.innermost_memory : child;
  plan.mover_levels = below(inside) & ~(within ? below(parent) : 0U);
  plan.mover_floor = std::uint32_t{1} << (within ? parent : 0);
  if (to_compute && !plan.may_reuse) {
    plan.mover_levels = 0;
    plan.mover_floor = std::uint32_t{1} << p.levels;
  }
  // Inputs are read from the parent and written to the child, outputs come back to the parent.
  const auto row = 2 * static_cast<unsigned>(x) * static_cast<unsigned>(kRow);
  plan.reads = row + plan.parent;
  plan.writes = row + static_cast<unsigned>(kRow) + (x == p.output ? plan.parent : plan.child);
  plan.parent_words = p.element_words[parent][x];
  plan.child_words = to_compute ? 0 : p.element_words[child][x];
  plan.served_pj = plan.parent_words * (x == p.output ? p.update_pj[parent] : p.read_pj[parent]);
  plan.read_back_pj = plan.parent_words * p.read_pj[parent];
  plan.delivered_pj = to_compute ? 0 : plan.child_words * p.write_pj[child];
  plan.drain_pj = to_compute ? 0 : plan.child_words * p.read_pj[child];
  return plan;
}

const Nest::PlannedTransfer& Nest::planned(int x, unsigned parent_memory, unsigned child_memory) const {
  const auto memories = static_cast<unsigned>(memories_);
  return every_transfer_[(static_cast<unsigned>(x) * memories + parent_memory) * (memories + 1) + child_memory];
}

/// The words that pass the ports of a memory: of the tensors it keeps, reads before writes.
void Nest::route_words(int level) {
  bool regroup = false;
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    LoadedPort& port = ports_[i];
    if (problem_.ports[i].level != level) continue;
    const bool was_crowded = port.count > 2;
    port.count = 0;
    port.words[0] = port.words[1] = static_cast<std::uint16_t>(kNothing);
    const auto add = [&](TensorSet tensors, std::size_t side) {
      for_each_bit(tensors & keeps_[level], [&](int x) {
        const std::size_t row = 2 * static_cast<std::size_t>(x) + side;
        port.words[port.count++] = static_cast<std::uint16_t>(row * kRow + static_cast<std::size_t>(level));
      });
    };
    add(problem_.ports[i].reads, 0);
    // Nothing outside the outermost memory writes inputs to it.
    add(problem_.ports[i].writes & (level == memory_[0] ? TensorSet{1} << output_ : ~TensorSet{0}), 1);
    const bool crowded = port.count > 2;
    port.first = crowded ? static_cast<unsigned>(kOfPorts + i) : port.words[0];
    port.second = crowded ? static_cast<unsigned>(kNothing) : port.words[1];
    regroup |= crowded != was_crowded;
  }
  if (!regroup) return;
  crowded_.clear();
  for (std::size_t i = 0; i < ports_.size(); ++i)
    if (ports_[i].count > 2) crowded_.push_back(i);
}

/// The transfers of neighbouring keepers of a tensor.
void Nest::chain_keepers(int x) {
  Chain& chain = chains_[x];
  chain.keepers = keepers_[x];
  chain.count = 0;
  std::fill_n(reads_of(static_cast<unsigned>(x)), 2 * kRow, 0.0);
  int parent = -1;
  for_each_bit(keepers_[x] | std::uint32_t{1} << memories_, [&](int i) {
    if (parent >= 0) chain.at[chain.count++] = planned(x, static_cast<unsigned>(parent), static_cast<unsigned>(i));
    parent = i;
  });
}

/// One memory more or less keeps a tensor: one transfer becomes two, or two become one; the others stay as they are.
void Nest::splice_keeper(int x, int memory) {
  const std::uint32_t bit = std::uint32_t{1} << memory, keepers = keepers_[x] & ~bit;
  Chain& chain = chains_[x];
  std::uint32_t& stale = stale_transfers_[x];
  const int first = std::popcount(keepers & (bit - 1)) - 1;  // transfer at the place of the change; -1 = outside all
  const std::uint32_t outside = keepers & (bit - 1), inside = keepers & ~(bit - 1);
  if (keepers == 0) return;  // a tensor nobody keeps is chained afresh
  const auto at = static_cast<unsigned>(memory);
  const auto child = static_cast<unsigned>(std::countr_zero(inside | std::uint32_t{1} << memories_));
  const bool added = (keepers_[x] & bit) != 0;
  const int kept = first + 1;  // transfers outside the change that stay: all before `first`
  PlannedTransfer* const transfers = chain.at.data();
  if (outside == 0) {  // a new outermost keeper, or the outermost one gone
    if (added) {
      std::copy_backward(transfers, transfers + chain.count, transfers + chain.count + 1);
      transfers[0] = planned(x, at, child);
      stale = stale << 1 | 1U;
    } else {
      std::copy(transfers + 1, transfers + chain.count, transfers);
      stale >>= 1;
    }
  } else {
    const auto parent = static_cast<unsigned>(highest(outside));
    const std::uint32_t low = below(kept), before = stale & (low >> 1);
    if (added) {
      std::copy_backward(transfers + kept, transfers + chain.count, transfers + chain.count + 1);
      transfers[first] = planned(x, parent, at);
      transfers[kept] = planned(x, at, child);
      stale = before | (stale & ~low) << 1 | std::uint32_t{3} << first;
    } else {
      std::copy(transfers + kept + 1, transfers + chain.count, transfers + kept);
      transfers[first] = planned(x, parent, child);
      stale = before | (stale >> 1 & ~low) | std::uint32_t{1} << first;
    }
  }
  chain.count += added ? 1 : -1;
  chain.keepers = keepers_[x];
  // Ports that no transfer writes to any more: of the dropped memory, and of an outermost one.
  const int level = memory_[memory];
  reads_of(static_cast<unsigned>(x))[level] = writes_of(static_cast<unsigned>(x))[level] = 0;
  if (outside == 0) writes_of(static_cast<unsigned>(x))[transfers[0].parent] = 0;
}

}  // namespace pliant
