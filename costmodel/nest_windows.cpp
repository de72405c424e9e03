// SPDX-License-Identifier: Apache-2.0
// The part of a nest's words that comes from windows, while factors are perfect: counted once for the bounds of their
// dims, the parent and the loop that moves them.
#include <algorithm>

#include "core/arithmetic.h"
#include "costmodel/displacement.h"
#include "costmodel/nest.h"

namespace pliant {

/// The words of several ranks multiply. So they do at the parent, unless it may serve several windows as one along all
/// ranks at once, or boxes cut the ranks otherwise than equal windows do.
void Nest::prepare_windows(int x) {
  const Problem& p = problem_;
  Windows& windows = windows_[x];
  if (p.affine_dims[x] == 0) return;
  bool pairs = p.uniting[x] == 0 && p.conventions.footprint != Conventions::Footprint::kBoundingBox;
  for (const Problem::AffineRank& rank : p.windows[x]) pairs &= rank.terms == 2;
  if (!pairs) {
    windows.kept.resize(static_cast<std::size_t>(memories_) + 1);
    keeping_windows_ |= TensorSet{1} << x;
    return;
  }
  for (const Problem::AffineRank& rank : p.windows[x])
    windows.pairs[windows.count++] = {
        &rank,           static_cast<unsigned>(rank.dim[0]),       static_cast<unsigned>(rank.dim[1]), rank.reduced[0],
        rank.reduced[1], p.size[rank.dim[0]] * p.size[rank.dim[1]]};
}

/// The extent of windows that slide along one of a pair's dims.
double Nest::slid_extent(const Windows::Pair& pair, const PlannedTransfer& transfer, const MovingLoop& mover) const {
  return affine_extent(loops_, *pair.rank, transfer.words.child, mover, 0);
}

/// Copies of the parent, and different windows among the children of each, where both dims of a pair are spread.
double Nest::shared_windows(const Windows::Pair& pair, const PlannedTransfer& transfer) const {
  return distinct_windows(loops_, *pair.rank, transfer.words.tensor, transfer.fanouts, 0) *
         loops_.copies(transfer.parent_ring, pair.first) * loops_.copies(transfer.parent_ring, pair.second);
}

/// As found before, if nothing that they depend on has changed.
const Nest::WindowWords& Nest::kept_windows(unsigned x, const PlannedTransfer& transfer, const MovingLoop& mover) {
  WindowWords& windows = windows_[x].kept[transfer.child_memory];
  if (windows.version != windows_[x].version || windows.mover_level != mover.level || windows.mover_dim != mover.dim ||
      windows.merged != mover.merged || windows.parent != transfer.words.parent) {
    count_windows(windows, transfer, mover);
    windows.version = windows_[x].version;
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

}  // namespace pliant
