// SPDX-License-Identifier: Apache-2.0
#include "costmodel/imperfect.h"

#include <algorithm>
#include <cmath>

#include "core/arithmetic.h"
#include "costmodel/windows.h"

namespace pliant {

double ImperfectTransfers::tuples(int d, std::uint32_t levels) const {
  if ((loops_.imperfect_dims() >> d & 1U) == 0) {
    double product = 1;
    for_each_bit(loops_.present(static_cast<unsigned>(d)) & levels, [&](int l) { product *= loops_.bound(l, d); });
    return product;
  }
  std::array<double, kMaxLevels + 1> full{};
  full[problem_.levels] = 1;
  for (int l = problem_.levels - 1; l >= 0; --l) full[l] = full[l + 1] * (levels >> l & 1U ? loops_.bound(l, d) : 1.0);
  double extent = problem_.size[d], total = 0;
  for (int l = 0; l < problem_.levels && extent > 1; ++l) {
    if (loops_.bound(l, d) == 1) continue;  // what is left is within the tile already
    const double tile = loops_.tile(l + 1, d);
    const double n = std::ceil(extent / tile);
    if (levels >> l & 1U) {
      total += (n - 1) * full[l + 1];
      extent -= (n - 1) * tile;
    } else if (n > 1) {
      return total + full[l + 1];
    }
  }
  return total + 1;
}

double ImperfectTransfers::steps(int d) const {
  std::uint32_t temporal = 0;
  for (int l = 0; l < problem_.levels; ++l)
    if (problem_.is_memory[l]) temporal |= std::uint32_t{1} << l;
  return tuples(d, temporal);
}

double ImperfectTransfers::widest(int d, int level) const { return tuples(d, problem_.fanouts & below(level)); }

double ImperfectTransfers::average_width(int d, int level) const {
  double width = 1;
  for (int l = 0; l < level; ++l)
    if (!problem_.is_memory[l])
      width *= std::ceil(problem_.size[d] / loops_.tile(l + 1, d)) / std::ceil(problem_.size[d] / loops_.tile(l, d));
  return width;
}

/// Which temporal loops repeat a transfer: those outside the mover, or all of them towards compute units.
ImperfectTransfers::Run ImperfectTransfers::run_of(const Transfer& transfer) const {
  const Problem& p = problem_;
  const int x = transfer.tensor, inner = p.innermost_memory;
  Run run;
  if (transfer.child != p.levels) {
    run.mover = loops_.find_moving_loop(x, transfer.parent, transfer.child);
    return run;
  }
  run.every_loop = p.conventions.compute_reuse == Conventions::ComputeReuse::kNone || transfer.parent == inner ||
                   (loops_.moving(x) >> inner & 1U) != 0;
  if (run.every_loop) return run;
  run.mover = loops_.find_moving_loop(x, transfer.parent, inner);
  run.mover.merged = 1;
  run.innermost_memory = true;
  return run;
}

/// Does a memory's loop over an uncoupled dim repeat the transfer?
bool ImperfectTransfers::repeats(const Transfer& transfer, const Run& run, int level, int dim) const {
  const bool within = problem_.conventions.stationarity == Conventions::Stationarity::kWithinLevel;
  if (run.every_loop || (run.innermost_memory && level == problem_.innermost_memory)) return true;
  if (run.mover.level < 0) return within && level < transfer.parent;
  return level < run.mover.level ||
         (level == run.mover.level &&
          static_cast<int>(loops_.at(static_cast<unsigned>(level)).position[dim]) > run.mover.position);
}

/// Memories outside the child whose loops over an uncoupled dim repeat the transfer.
std::uint32_t ImperfectTransfers::repeating_levels(const Transfer& transfer, const Run& run, int dim) const {
  std::uint32_t levels = 0;
  for (int l = 0; l < transfer.child; ++l)
    if (problem_.is_memory[l] && repeats(transfer, run, l, dim)) levels |= std::uint32_t{1} << l;
  return levels;
}

double ImperfectTransfers::share_merged(const Transfer& transfer, std::uint32_t merged) const {
  const Run run = run_of(transfer);
  const std::uint32_t outside_child = problem_.fanouts & below(transfer.child);
  double share = 1;
  for (int d = 0; d < problem_.dims; ++d) {
    if (problem_.is_coupled(transfer.tensor, d)) continue;
    const std::uint32_t temporal = repeating_levels(transfer, run, d);
    share *= tuples(d, temporal | (outside_child & ~merged)) / tuples(d, temporal | outside_child);
  }
  return share;
}

/// Memories whose loops over a dim bring another tile.
std::uint32_t ImperfectTransfers::moving_levels(const Transfer& transfer, int d) const {
  if (problem_.is_coupled(transfer.tensor, d)) return below(transfer.child) & ~problem_.fanouts;
  Run run;
  run.mover = loops_.find_moving_loop(transfer.tensor, transfer.parent, transfer.child);
  return repeating_levels(transfer, run, d);
}

double ImperfectTransfers::tiles_visited(const Transfer& transfer) const {
  double tiles = 1;
  for (int d = 0; d < problem_.dims; ++d) tiles *= tuples(d, moving_levels(transfer, d));
  return tiles;
}

/// Along every dim all tiles have the same steps, but for the last one, which may have fewer.
double ImperfectTransfers::steps_too_few(const Transfer& transfer, double cycles) const {
  std::array<double, kMaxDims> tiles{}, full{}, last{};
  for (int d = 0; d < problem_.dims; ++d) {
    const std::uint32_t moving = moving_levels(transfer, d);
    tiles[d] = tuples(d, moving);
    full[d] = 1;
    for (int l = 0; l < problem_.levels; ++l)
      if (problem_.is_memory[l] && (moving >> l & 1U) == 0) full[d] *= loops_.bound(l, d);
    last[d] = steps(d) - (tiles[d] - 1) * full[d];
  }
  double missing = 0;
  const auto add = [&](auto&& self, int d, double count, double steps, bool at_the_end) -> void {
    if (d == problem_.dims) {
      if (!at_the_end) missing += count * std::max(0.0, cycles - steps * problem_.cycles_per_mac);
      return;
    }
    if (tiles[d] > 1) self(self, d + 1, count * (tiles[d] - 1), steps * full[d], false);
    self(self, d + 1, count, steps * last[d], at_the_end);
  };
  add(add, 0, 1, 1, true);
  return missing;
}

ImperfectTransfers::Times ImperfectTransfers::times_of(const Transfer& transfer, const Run& run) const {
  const Problem& p = problem_;
  const int x = transfer.tensor;
  const std::uint32_t outside_parent = p.fanouts & below(transfer.parent);
  const std::uint32_t outside_child = p.fanouts & below(transfer.child);
  const std::uint32_t unshared = outside_child & ~outside_parent & ~p.sharing[x];
  Times times;
  for (int d = 0; d < p.dims; ++d) {
    if (p.is_coupled(x, d)) continue;
    const std::uint32_t temporal = repeating_levels(transfer, run, d);
    times.served *= tuples(d, temporal | outside_parent | unshared);
    times.delivered *= tuples(d, temporal | outside_child);
    times.first_parent *= tuples(d, outside_parent | unshared);
    times.first_child *= tuples(d, outside_child);
  }
  return times;
}

/// Distinct output words per instance of a level, summed over its instances.
double ImperfectTransfers::first_words(int level) const {
  const Problem& p = problem_;
  const int x = p.output;
  if (p.conventions.footprint == Conventions::Footprint::kBoundingBox && !p.affine[x].empty())
    return boxed_output_share(loops_, level);
  double words = p.simple_words[x];
  for (int d = 0; d < p.dims; ++d)
    if (!p.is_coupled(x, d)) words *= tuples(d, p.fanouts & below(level));
  return p.affine[x].empty() ? words : words * distinct_output_extent(loops_, level);
}

void ImperfectTransfers::price(Transfer& transfer) const {
  const Problem& p = problem_;
  const int x = transfer.tensor, parent = transfer.parent, child = transfer.child;
  const Run run = run_of(transfer);
  const Times times = times_of(transfer, run);
  double served = p.simple_words[x], delivered = served;
  if (!p.affine[x].empty()) {
    double windows = kInfinity;
    for_each_subset(united_fanouts(loops_, x, p.fanouts & below(child) & ~below(parent)), [&](std::uint32_t united) {
      windows = std::min(windows, affine_served(transfer, run.mover, united));
    });
    served *= windows;
    delivered *= affine_delivered(transfer, run.mover);
  }
  transfer.served = served * times.served;
  transfer.delivered = delivered * times.delivered;
  if (x != p.output) return;
  if (p.conventions.first_time == Conventions::FirstTime::kPerSweep) {
    transfer.first_parent = served * times.first_parent;
    transfer.first_child = delivered * times.first_child;
  } else {
    transfer.first_parent = first_words(parent);
    transfer.first_child = child == p.levels ? 0 : first_words(child);
  }
  if (p.affine[x].empty()) return;
  transfer.first_parent = std::min(transfer.first_parent, transfer.served);
  transfer.first_child = std::min(transfer.first_child, transfer.delivered);
}

// Ranks that share no dim are independent and multiply. Ranks without short tiles have the closed form of
// Nest::count_windows.

double ImperfectTransfers::short_words(const Problem::AffineRank& joint, const Transfer& transfer,
                                       const MovingLoop& mover, bool at_parent, std::uint32_t united) const {
  return memory_ != nullptr ? memory_->words(loops_, joint, transfer, mover, at_parent, united)
                            : short_window_words(loops_, joint, transfer, mover, at_parent, united);
}

double ImperfectTransfers::affine_served(const Transfer& transfer, const MovingLoop& mover,
                                         std::uint32_t united) const {
  const Problem& p = problem_;
  const int x = transfer.tensor, parent = transfer.parent, child = transfer.child;
  double served = 1;
  for (const Problem::AffineRank& joint : p.windows[x]) {
    if ((joint.dims & loops_.imperfect_dims()) != 0) {
      served *= short_words(joint, transfer, mover, true, united);
      continue;
    }
    served *= distinct_windows(loops_, joint, x, p.fanouts & below(child) & ~below(parent), united);
    for (const Problem::AffineRank& rank : child == p.levels ? p.windows[x] : p.affine[x])
      if ((rank.dims & joint.dims) != 0) served *= affine_extent(loops_, rank, child, mover, united);
    for_each_bit(joint.dims, [&](int d) {
      served *=
          loops_.temporal_outside(child, d) / (mover.dim == d ? mover.merged : 1.0) * loops_.spatial_outside(parent, d);
    });
  }
  return served;
}

double ImperfectTransfers::affine_delivered(const Transfer& transfer, const MovingLoop& mover) const {
  const Problem& p = problem_;
  const int x = transfer.tensor, child = transfer.child;
  double delivered = 1;
  for (const Problem::AffineRank& joint : p.windows[x]) {
    if ((joint.dims & loops_.imperfect_dims()) != 0) {
      delivered *= short_words(joint, transfer, mover, false, 0);
      continue;
    }
    for (const Problem::AffineRank& rank : child == p.levels ? p.windows[x] : p.affine[x])
      if ((rank.dims & joint.dims) != 0) delivered *= affine_extent(loops_, rank, child, mover, 0);
    for_each_bit(joint.dims, [&](int d) {
      delivered *=
          loops_.temporal_outside(child, d) / (mover.dim == d ? mover.merged : 1.0) * loops_.spatial_outside(child, d);
    });
  }
  return delivered;
}

}  // namespace pliant
