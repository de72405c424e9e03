// SPDX-License-Identifier: Apache-2.0
// The part of a nest's words that comes from affine index expressions: how large windows are, and how many differ.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/affine.h"
#include "costmodel/bits.h"
#include "costmodel/nest.h"

namespace pliant {

namespace {

/// Distinct values of m*a + n*b, a < A, b < B, m and n coprime (core/affine.h, without its overflow checks: the
/// products here are below that of the layer's sizes).
inline double distinct_pair(double m, double A, double n, double B) {
  if (A < n || B < m) return A * B;
  return m * (A - 1) + n * (B - 1) - (m - 1) * (n - 1) + 1;
}

}  // namespace

/// Words along one rank that a child receives in one sliding run (or at once when nothing slides). `united`: fanouts
/// whose children count as one, so that their windows are part of the extent.
double Nest::affine_extent(const Problem::AffineRank& rank, int child, const Kill& kill, std::uint32_t united) const {
  if (united != 0 || rank.terms != 2 || problem_.conventions.footprint == Conventions::Footprint::kBoundingBox)
    return any_extent(rank, child, kill, united);
  if (child == problem_.levels) return 1;
  // The common case: a pair of dims, a window that slides by its own length along one of them (or not at all).
  std::array<double, 2> count;
  for (int i = 0; i < 2; ++i) {
    const int d = rank.dim[i];
    count[i] = std::min(tile_[d][child], problem_.size[d]);
    if (kill.dim != d || kill.merged == 1) continue;
    if (tile_[d][kill.level + 1] != count[i]) return any_extent(rank, child, kill, united);
    count[i] *= kill.merged;
  }
  return distinct_pair(rank.reduced[0], count[0], rank.reduced[1], count[1]);
}

double Nest::any_extent(const Problem::AffineRank& rank, int child, const Kill& kill, std::uint32_t united) const {
  // Compute units take single words, which have no box.
  const bool to_compute = child == problem_.levels;
  const bool box = problem_.conventions.footprint == Conventions::Footprint::kBoundingBox && !to_compute;
  if (to_compute && united == 0) return 1;
  std::array<Stride, kMaxStrides> strides;
  std::size_t n = 0;
  double extent = 1, slide_step = 0, slide_count = 1;
  for (int i = 0; i < rank.terms; ++i) {
    const int d = rank.dim[i];
    const Count coefficient = rank.coefficient[i];
    double count = std::min(tile_[d][child], problem_.size[d]);
    for_each_bit(united, [&](int l) {
      if (b_[d][l] <= 1) return;
      extent += static_cast<double>(coefficient) * tile_[d][l + 1] * (b_[d][l] - 1);
      strides[n++] = {coefficient * static_cast<Count>(tile_[d][l + 1]), static_cast<Count>(b_[d][l])};
    });
    if (kill.dim == d && kill.merged > 1) {
      // Quickflow lays the windows of one loop side by side, whatever lies between them; but not those of neighbours.
      const bool beside = problem_.conventions.halo == Conventions::Halo::kOneLoop && united == 0;
      const double step = beside ? count : tile_[d][kill.level + 1];
      if (!box && step == count) {
        count *= kill.merged;
      } else if (box) {
        slide_step = step * static_cast<double>(coefficient);
        slide_count = kill.merged;
      } else {
        strides[n++] = {coefficient * static_cast<Count>(step), static_cast<Count>(kill.merged)};
      }
    }
    if (count <= 1) continue;
    extent += static_cast<double>(coefficient) * (count - 1);
    strides[n++] = {coefficient, static_cast<Count>(count)};
  }
  if (box) return extent + (slide_count - 1) * std::min(slide_step, extent);
  return static_cast<double>(distinct_values(std::span<const Stride>(strides.data(), n)));
}

/// Fanouts over affine dims of a tensor that can serve their children's windows as one. A network that can do more may
/// be used as one that does less, so the words of a parent are the fewest over all subsets of them.
std::uint32_t Nest::united_fanouts(int x, std::uint32_t fanouts) const {
  std::uint32_t united = fanouts & problem_.uniting[x], spread = 0;
  if (united != 0) for_each_bit(problem_.affine_dims[x], [&](int d) { spread |= present_[d]; });
  return united & spread;
}

/// Different windows among the children that some fanouts give one instance of the parent: those that coincide share a
/// word, those of `united` fanouts are one. Adjacent fanouts act as one network; networks divided by a memory, kept or
/// not, are counted apart.
double Nest::distinct_windows(const Problem::AffineRank& rank, int x, std::uint32_t fanouts,
                              std::uint32_t united) const {
  const Problem& p = problem_;
  double windows = 1;
  for (std::uint32_t rest = fanouts & ~united; rest != 0;) {
    const std::uint32_t network = rest & p.network[std::countr_zero(rest)];
    rest &= ~network;
    int spread = 0;  // dims
    for (int i = 0; i < rank.terms; ++i) spread += (present_[rank.dim[i]] & network & p.sharing_equal[x]) != 0 ? 1 : 0;
    const std::uint32_t equal = spread > 1 ? network & p.sharing_equal[x] : 0;
    if (equal != 0) windows *= equal_windows(rank, equal);
    for (int i = 0; i < rank.terms; ++i) {
      const int d = rank.dim[i];
      for_each_bit(present_[d] & network & ~equal, [&](int l) { windows *= b_[d][l]; });
    }
  }
  return windows;
}

/// Different displacements that the fanouts of one network give to their children.
double Nest::equal_windows(const Problem::AffineRank& rank, std::uint32_t fanouts) const {
  std::array<Stride, kMaxStrides> strides;
  std::size_t n = 0;
  for (int i = 0; i < rank.terms; ++i) {
    const int d = rank.dim[i];
    for_each_bit(fanouts, [&](int l) {
      if (b_[d][l] > 1)
        strides[n++] = {rank.coefficient[i] * static_cast<Count>(tile_[d][l + 1]), static_cast<Count>(b_[d][l])};
    });
  }
  return static_cast<double>(distinct_values(std::span<const Stride>(strides.data(), n)));
}

double Nest::footprint(int level, int tensor) const {
  double words = 1;
  for_each_bit(problem_.simple[tensor], [&](int d) { words *= std::min(tile_[d][level], problem_.size[d]); });
  for (const Problem::AffineRank& rank : problem_.affine[tensor]) words *= affine_extent(rank, level, Kill{}, 0);
  return words;
}

/// Distinct output words per instance of a level, over the whole run, summed over its instances.
double Nest::first_words(int level) const {
  const Problem& p = problem_;
  const int x = p.output;
  if (p.conventions.footprint == Conventions::Footprint::kBoundingBox) return boxed_share(level);
  double words = p.simple_words[x];
  for_each_bit(all_dims_ & ~p.simple[x], [&](int d) { words *= spatial_[d][level]; });
  std::array<Stride, kMaxStrides> strides;
  for (const Problem::AffineRank& rank : p.affine[x]) {
    std::size_t n = 0;
    for (int i = 0; i < rank.terms; ++i) {
      const int d = rank.dim[i];
      if (tile_[d][level] > 1) strides[n++] = {rank.coefficient[i], static_cast<Count>(tile_[d][level])};
      for (int l = level - 1; l >= 0; --l)
        if (p.is_memory[l] && b_[d][l] > 1)
          strides[n++] = {rank.coefficient[i] * static_cast<Count>(tile_[d][l + 1]), static_cast<Count>(b_[d][l])};
    }
    words *= static_cast<double>(distinct_values(std::span<const Stride>(strides.data(), n)));
  }
  return words;
}

/// Bounding boxes have holes that no element fills, so an instance's part of the output is a share of the tensor's box:
/// Timeloop's, at every network the child's tile over that of all children, in whole words.
double Nest::boxed_share(int level) const {
  const Problem& p = problem_;
  double words = footprint(0, p.output);
  for (std::uint32_t rest = p.fanouts & below(level); rest != 0;) {
    const int outermost = std::countr_zero(rest);
    rest &= ~p.network[outermost];
    words = std::floor(words * footprint(p.gap[outermost], p.output) / footprint(outermost, p.output));
  }
  return words * instances_[level];
}

/// Words of the parent and of all children: extent of the windows, times how many there are.
void Nest::window_words(Windows& windows, const Link& link, const Kill& kill) const {
  const Problem& p = problem_;
  const int x = link.words.tensor, child = link.words.child;
  double visits = 1, at_parent = 1, at_child = 1;
  for_each_bit(p.affine_dims[x], [&](int d) {
    visits *= temporal_[d][child];
    at_parent *= spatial_[d][link.parent];
    at_child *= spatial_[d][child];
  });
  if (kill.merged != 1) visits /= kill.merged;
  const auto& extents = child == p.levels ? p.windows[x] : p.affine[x];
  windows.delivered = visits * at_child;
  double extent = 1;
  for (const Problem::AffineRank& rank : extents) extent *= affine_extent(rank, child, kill, 0);
  windows.delivered *= extent;
  double at_one_parent = std::numeric_limits<double>::infinity();
  for_each_subset(united_fanouts(x, link.fanouts), [&](std::uint32_t united) {
    double words = 1;
    if (united == 0)
      words = extent;
    else
      for (const Problem::AffineRank& rank : extents) words *= affine_extent(rank, child, kill, united);
    if (link.fanouts != 0)
      for (const Problem::AffineRank& rank : p.windows[x]) words *= distinct_windows(rank, x, link.fanouts, united);
    at_one_parent = std::min(at_one_parent, words);
  });
  windows.served = visits * at_parent * at_one_parent;
}

}  // namespace pliant
