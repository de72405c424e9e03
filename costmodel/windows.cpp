// SPDX-License-Identifier: Apache-2.0
#include "costmodel/windows.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/affine.h"

namespace pliant {

namespace {

double any_extent(const LoopNest& loops, const Problem::AffineRank& rank, int child, const MovingLoop& mover,
                  std::uint32_t united) {
  const Problem& p = loops.problem();
  // Compute units take single words, which have no box.
  const bool to_compute = child == p.levels;
  const bool box = p.conventions.footprint == Conventions::Footprint::kBoundingBox && !to_compute;
  if (to_compute && united == 0) return 1;
  std::array<Stride, kMaxStrides> strides;
  std::size_t n = 0;
  double extent = 1, slide_step = 0, slide_count = 1;
  for (int i = 0; i < rank.terms; ++i) {
    const int d = rank.dim[i];
    const Count coefficient = rank.coefficient[i];
    double count = std::min(loops.tile(child, d), p.size[d]);
    for_each_bit(united, [&](int l) {
      if (loops.bound(l, d) <= 1) return;
      extent += static_cast<double>(coefficient) * loops.tile(l + 1, d) * (loops.bound(l, d) - 1);
      strides[n++] = {coefficient * static_cast<Count>(loops.tile(l + 1, d)), static_cast<Count>(loops.bound(l, d))};
    });
    if (mover.dim == d && mover.merged > 1) {
      // Quickflow lays the windows of one loop side by side, whatever lies between them; but not those of neighbours.
      const bool beside = p.conventions.halo == Conventions::Halo::kOneLoop && united == 0;
      const double step = beside ? count : loops.tile(mover.level + 1, d);
      if (!box && step == count) {
        count *= mover.merged;
      } else if (box) {
        slide_step = step * static_cast<double>(coefficient);
        slide_count = mover.merged;
      } else {
        strides[n++] = {coefficient * static_cast<Count>(step), static_cast<Count>(mover.merged)};
      }
    }
    if (count <= 1) continue;
    extent += static_cast<double>(coefficient) * (count - 1);
    strides[n++] = {coefficient, static_cast<Count>(count)};
  }
  if (box) return extent + (slide_count - 1) * std::min(slide_step, extent);
  return static_cast<double>(distinct_values(std::span<const Stride>(strides.data(), n)));
}

/// Different displacements that the fanouts of one network give to their children.
double equal_windows(const LoopNest& loops, const Problem::AffineRank& rank, std::uint32_t fanouts) {
  std::array<Stride, kMaxStrides> strides;
  std::size_t n = 0;
  for (int i = 0; i < rank.terms; ++i) {
    const int d = rank.dim[i];
    for_each_bit(fanouts, [&](int l) {
      if (loops.bound(l, d) > 1)
        strides[n++] = {rank.coefficient[i] * static_cast<Count>(loops.tile(l + 1, d)),
                        static_cast<Count>(loops.bound(l, d))};
    });
  }
  return static_cast<double>(distinct_values(std::span<const Stride>(strides.data(), n)));
}

}  // namespace

double affine_extent(const LoopNest& loops, const Problem::AffineRank& rank, int child, const MovingLoop& mover,
                     std::uint32_t united) {
  const Problem& p = loops.problem();
  if (united != 0 || rank.terms != 2 || p.conventions.footprint == Conventions::Footprint::kBoundingBox)
    return any_extent(loops, rank, child, mover, united);
  if (child == p.levels) return 1;
  // The common case: a pair of dims, a window that slides by its own length along one of them (or not at all).
  std::array<double, 2> count;
  for (int i = 0; i < 2; ++i) {
    const int d = rank.dim[i];
    count[i] = std::min(loops.tile(child, d), p.size[d]);
    if (mover.dim != d || mover.merged == 1) continue;
    if (loops.tile(mover.level + 1, d) != count[i]) return any_extent(loops, rank, child, mover, united);
    count[i] *= mover.merged;
  }
  return distinct_pair(rank.reduced[0], count[0], rank.reduced[1], count[1]);
}

std::uint32_t united_fanouts(const LoopNest& loops, int x, std::uint32_t fanouts) {
  const Problem& p = loops.problem();
  std::uint32_t united = fanouts & p.uniting[x], spread = 0;
  if (united != 0) for_each_bit(p.affine_dims[x], [&](int d) { spread |= loops.present(d); });
  return united & spread;
}

double distinct_windows(const LoopNest& loops, const Problem::AffineRank& rank, int x, std::uint32_t fanouts,
                        std::uint32_t united) {
  const Problem& p = loops.problem();
  double windows = 1;
  for (std::uint32_t rest = fanouts & ~united; rest != 0;) {
    const std::uint32_t network = rest & p.network[std::countr_zero(rest)];
    rest &= ~network;
    int spread = 0;  // dims
    for (int i = 0; i < rank.terms; ++i)
      spread += (loops.present(rank.dim[i]) & network & p.sharing_equal[x]) != 0 ? 1 : 0;
    const std::uint32_t equal = spread > 1 ? network & p.sharing_equal[x] : 0;
    if (equal != 0) windows *= equal_windows(loops, rank, equal);
    for (int i = 0; i < rank.terms; ++i) {
      const int d = rank.dim[i];
      for_each_bit(loops.present(d) & network & ~equal, [&](int l) { windows *= loops.bound(l, d); });
    }
  }
  return windows;
}

double footprint(const LoopNest& loops, int level, int tensor) {
  const Problem& p = loops.problem();
  double words = 1;
  for_each_bit(p.simple[tensor], [&](int d) { words *= std::min(loops.tile(level, d), p.size[d]); });
  for (const Problem::AffineRank& rank : p.affine[tensor]) words *= affine_extent(loops, rank, level, MovingLoop{}, 0);
  return words;
}

double first_output_words(const LoopNest& loops, int level) {
  const Problem& p = loops.problem();
  const int x = p.output;
  if (p.conventions.footprint == Conventions::Footprint::kBoundingBox) return boxed_output_share(loops, level);
  double words = p.simple_words[x];
  for_each_bit(loops.all_dims() & ~p.simple[x], [&](int d) { words *= loops.spatial_outside(level, d); });
  std::array<Stride, kMaxStrides> strides;
  for (const Problem::AffineRank& rank : p.affine[x]) {
    std::size_t n = 0;
    for (int i = 0; i < rank.terms; ++i) {
      const int d = rank.dim[i];
      if (loops.tile(level, d) > 1) strides[n++] = {rank.coefficient[i], static_cast<Count>(loops.tile(level, d))};
      for (int l = level - 1; l >= 0; --l)
        if (p.is_memory[l] && loops.bound(l, d) > 1)
          strides[n++] = {rank.coefficient[i] * static_cast<Count>(loops.tile(l + 1, d)),
                          static_cast<Count>(loops.bound(l, d))};
    }
    words *= static_cast<double>(distinct_values(std::span<const Stride>(strides.data(), n)));
  }
  return words;
}

double boxed_output_share(const LoopNest& loops, int level) {
  const Problem& p = loops.problem();
  double words = footprint(loops, 0, p.output);
  for (std::uint32_t rest = p.fanouts & below(level); rest != 0;) {
    const int outermost = std::countr_zero(rest);
    rest &= ~p.network[outermost];
    words = std::floor(words * footprint(loops, p.gap[outermost], p.output) / footprint(loops, outermost, p.output));
  }
  return words * loops.instances(level);
}

}  // namespace pliant
