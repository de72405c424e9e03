// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/search/rounded.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/arithmetic.h"
#include "costmodel/bits.h"

namespace pliant::exact {

namespace {

/// Dims that are rounded up or down each for itself; further ones are rounded down.
constexpr int kMostDimsRounded = 6;

/// What is left of one dim from the inside out.
struct Placed {
  Count tile = 1, left = 1;
  void place(Count bound) {
    tile *= bound;
    left = ceil_div(left, bound);
  }
};

/// The bound of a loop that brings the tile near the smallest one of a group, and no larger than the rounds outside
/// need it.
Count rounded_bound(const Placed& dim, Count smallest, bool up) {
  const Count bound = std::clamp<Count>(up ? ceil_div(smallest, dim.tile) : smallest / dim.tile, 1, dim.left);
  return ceil_div(dim.left, ceil_div(dim.left, bound));
}

/// What the choice says: no loops in time.
Mapping without_loops(const Lattice& lattice) {
  const Problem& p = lattice.resolved().problem;
  Mapping mapping;
  mapping.levels.resize(p.accelerator.levels.size());
  for (int l = 0; l < p.levels; ++l) {
    mapping.levels[l].keeps = lattice.keeps()[l];
    if (!p.is_memory[l]) mapping.levels[l].spatial = lattice.spatial().unrolling[l]->loops(p.dims);
  }
  return mapping;
}

Mapping rounded(const Lattice& lattice, std::span<const PathLoops> path, DimSet up) {
  const ResolvedTask& resolved = lattice.resolved();
  const Problem& p = resolved.problem;
  Mapping mapping = without_loops(lattice);
  std::array<Placed, kMaxDims> placed{};
  for (int d = 0; d < p.dims; ++d) placed[d].left = resolved.task.layer.dims[static_cast<std::size_t>(d)].size;
  for (int k = 0, inside = p.levels; k < lattice.stages(); inside = resolved.memories[k++]) {
    for (int l = inside - 1; l > resolved.memories[k]; --l)
      for (int d = 0; d < p.dims; ++d) {
        placed[d].place(lattice.spatial().unrolling[l]->cols[d]);
        placed[d].place(lattice.spatial().unrolling[l]->rows[d]);
      }
    const PathLoops& here = path[static_cast<std::size_t>(lattice.stages() - 1 - k)];
    const Step& step = here.step;
    std::array<int, kMaxDims> end{};
    lattice.boxes().unpack(k, here.end, end);
    std::vector<Loop> inside_out;
    const auto add = [&](int d) {
      const bool last = k + 1 == lattice.stages();
      const Count smallest = lattice.boxes().axis(k, d).states[static_cast<std::size_t>(end[d])].tile;
      const Count bound = last ? placed[d].left : rounded_bound(placed[d], smallest, contains(up, d));
      if (bound > 1) inside_out.push_back({d, bound});
      placed[d].place(bound);
    };
    DimSet looped = 0;
    for (int at = 0; at < step.loops; ++at) {
      looped |= only(step.order[static_cast<std::size_t>(at)]);
      add(step.order[static_cast<std::size_t>(at)]);
    }
    for (int d = 0; d < p.dims; ++d)
      if (!contains(looped, d) && contains(resolved.may_loop[static_cast<std::size_t>(k)], d)) add(d);
    mapping.levels[resolved.memories[k]].temporal.assign(inside_out.rbegin(), inside_out.rend());
  }
  return mapping;
}

}  // namespace

Mapping mapping_of(const Lattice& lattice, std::span<const PathLoops> path) {
  Mapping mapping = without_loops(lattice);
  int k = lattice.stages();
  for (const PathLoops& here : path) {
    auto& loops = mapping.levels[lattice.resolved().memories[static_cast<std::size_t>(--k)]].temporal;
    std::array<Count, kMaxDims> bound{};
    lattice.boxes().bounds(k, here.step.node, here.end, bound);
    for (int at = here.step.loops - 1; at >= 0; --at) {
      const int d = here.step.order[static_cast<std::size_t>(at)];
      loops.push_back({d, bound[d]});
    }
  }
  return mapping;
}

void for_each_rounded(const Lattice& lattice, std::span<const PathLoops> path,
                      const std::function<void(Mapping&&)>& visit) {
  DimSet rounds = 0;  // dims of more than one iteration
  for (int d = 0; d < lattice.resolved().problem.dims && std::popcount(rounds) < kMostDimsRounded; ++d)
    if (lattice.resolved().task.layer.dims[static_cast<std::size_t>(d)].size > 1) rounds |= only(d);
  for (DimSet up = rounds;; up = (up - 1) & rounds) {
    visit(rounded(lattice, path, up));
    if (up == 0) return;
  }
}

}  // namespace pliant::exact
