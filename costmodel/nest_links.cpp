// SPDX-License-Identifier: Apache-2.0
// The pairs of neighbouring keepers of every tensor: made once for all that can occur, put together as bypass says.
#include <algorithm>
#include <bit>

#include "costmodel/bits.h"
#include "costmodel/nest.h"

namespace pliant {

Nest::Link Nest::make_link(int x, int parent_memory, int child_memory) const {
  const Problem& p = problem_;
  const int parent = memory_[parent_memory], child = child_memory < memories_ ? memory_[child_memory] : p.levels;
  Link link;
  link.words.tensor = static_cast<std::int8_t>(x);
  link.words.parent = static_cast<std::int8_t>(parent);
  link.words.child = static_cast<std::int8_t>(child);
  link.parent = static_cast<unsigned>(parent);
  link.child = static_cast<unsigned>(child);
  link.parent_memory = static_cast<unsigned>(parent_memory);
  link.child_memory = static_cast<unsigned>(child_memory);
  link.fanouts = p.fanouts & below(child) & ~below(parent);
  link.unshared = link.fanouts & ~p.sharing[x];
  // Where the kill may stand. Towards compute every loop counts, unless the conventions know reuse there as well.
  const bool within = p.conventions.stationarity == Conventions::Stationarity::kWithinLevel;
  const bool to_compute = child == p.levels;
  link.may_reuse = to_compute && parent != p.innermost_memory &&
                   p.conventions.compute_reuse == Conventions::ComputeReuse::kOutsideInnermostMemory;
  const int inside = to_compute ? p.innermost_memory : child;
  link.kill_levels = below(inside) & ~(within ? below(parent) : 0U);
  link.kill_floor = std::uint32_t{1} << (within ? parent : 0);
  if (to_compute && !link.may_reuse) {
    link.kill_levels = 0;
    link.kill_floor = std::uint32_t{1} << p.levels;
  }
  link.served_pj = x == p.output ? p.update_pj[parent] : p.read_pj[parent];
  link.read_back_pj = p.read_pj[parent];
  link.delivered_pj = to_compute ? 0 : p.write_pj[child];
  link.drain_pj = to_compute ? 0 : p.read_pj[child];
  return link;
}

const Nest::Link& Nest::link_between(int x, unsigned parent_memory, unsigned child_memory) const {
  const auto memories = static_cast<unsigned>(memories_);
  return every_link_[(static_cast<unsigned>(x) * memories + parent_memory) * (memories + 1) + child_memory];
}

/// The pairs of neighbouring keepers of a tensor.
void Nest::link_tensor(int x) {
  Links& links = links_[x];
  links.keepers = keepers_[x];
  links.count = 0;
  charge_[x].reads.at.fill(0);
  charge_[x].writes.at.fill(0);
  int parent = -1;
  for_each_bit(keepers_[x] | std::uint32_t{1} << memories_, [&](int i) {
    if (parent >= 0) links.at[links.count++] = link_between(x, static_cast<unsigned>(parent), static_cast<unsigned>(i));
    parent = i;
  });
}

/// One memory more or less keeps a tensor: one pair becomes two, or two become one; the others stay as they are.
void Nest::splice_keeper(int x, int memory) {
  const std::uint32_t bit = std::uint32_t{1} << memory, keepers = keepers_[x] & ~bit;
  Links& links = links_[x];
  std::uint32_t& stale = stale_links_[x];
  const int first = std::popcount(keepers & (bit - 1)) - 1;  // pair at the place of the change; -1 = outside all
  const std::uint32_t outside = keepers & (bit - 1), inside = keepers & ~(bit - 1);
  if (keepers == 0) return;  // a tensor nobody keeps is linked afresh
  const auto at = static_cast<unsigned>(memory);
  const auto child = static_cast<unsigned>(std::countr_zero(inside | std::uint32_t{1} << memories_));
  const bool added = (keepers_[x] & bit) != 0;
  const int kept = first + 1;  // pairs outside the change that stay: all before `first`
  Link* const pairs = links.at.data();
  if (outside == 0) {  // a new outermost keeper, or the outermost one gone
    if (added) {
      std::copy_backward(pairs, pairs + links.count, pairs + links.count + 1);
      pairs[0] = link_between(x, at, child);
      stale = stale << 1 | 1U;
    } else {
      std::copy(pairs + 1, pairs + links.count, pairs);
      stale >>= 1;
    }
  } else {
    const auto parent = static_cast<unsigned>(highest(outside));
    const std::uint32_t low = below(kept), before = stale & (low >> 1);
    if (added) {
      std::copy_backward(pairs + kept, pairs + links.count, pairs + links.count + 1);
      pairs[first] = link_between(x, parent, at);
      pairs[kept] = link_between(x, at, child);
      stale = before | (stale & ~low) << 1 | std::uint32_t{3} << first;
    } else {
      std::copy(pairs + kept + 1, pairs + links.count, pairs + kept);
      pairs[first] = link_between(x, parent, child);
      stale = before | (stale >> 1 & ~low) | std::uint32_t{1} << first;
    }
  }
  links.count += added ? 1 : -1;
  links.keepers = keepers_[x];
  // Ports that no pair writes to any more: of the dropped memory, and of an outermost one.
  Charge& charge = charge_[x];
  const int level = memory_[memory];
  charge.reads[level] = charge.writes[level] = 0;
  if (outside == 0) charge.writes[pairs[0].parent] = 0;
}

}  // namespace pliant
