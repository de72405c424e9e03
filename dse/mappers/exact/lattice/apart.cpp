// SPDX-License-Identifier: Apache-2.0
// Loops outside units that split their dim: the window of a unit jumps past those of its neighbours. Where the jump is
// at least as long as the window, one iteration shares no word with another and the loop brings whole windows.
#include <algorithm>

#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "dse/mappers/exact/lattice/lattice.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/words/kernels.h"
#include "dse/mappers/exact/words/windows.h"

namespace pliant::exact {

namespace {

const Problem::AffineRank& rank_with(const Problem& problem, int tensor, int dim) {
  return *std::find_if(problem.affine[tensor].begin(), problem.affine[tensor].end(),
                       [&](const Problem::AffineRank& rank) { return contains(dims_of(rank), dim); });
}

}  // namespace

bool Lattice::windows_apart(int k, int tensor, int pending, int dim, const std::array<int, kMaxDims>& node) const {
  // The model counts the distinct values of a run of windows that start coefficient * tile apart. Each window lies in
  // an interval of length 1 + sum of coefficient * (tile - 1). If the starts are at least that far apart, no two
  // windows share a value, so the run has as many values as its windows together: what the plain charge says.
  if (!resolved_.perfect || resolved_.one_loop || resolved_.walks) return false;
  const int level = resolved_.memories[k];
  if (spatial_between(spatial_, only(dim), level, resolved_.problem.levels) == 1) return false;
  const Problem::AffineRank& rank = rank_with(resolved_.problem, tensor, dim);
  const auto tile = [&](int d) { return static_cast<double>(axis(k, d).states[node[d]].tile); };
  bool split = false;
  for (auto j = static_cast<std::size_t>(first_pending(pending)); j < pairs_of_[tensor].size(); ++j) {
    const int child = pairs_[pairs_of_[tensor][j]].child;
    if (child <= level || child == resolved_.problem.levels) continue;  // units have no windows
    split |= spatial_between(spatial_, only(dim), level, child) > 1;
    bool unites = false;
    for (int l = level + 1; l < child; ++l) unites |= contains(resolved_.problem.uniting[tensor], l);
    double step = 0, window = 1;
    for (int i = 0; i < rank.terms; ++i) {
      const int d = rank.dim[i];
      const auto coefficient = static_cast<double>(rank.coefficient[i]);
      if (d == dim) step = coefficient * tile(d);
      window += coefficient * (tile(d) / (unites ? 1 : spatial_between(spatial_, only(d), level, child)) - 1);
    }
    if (!sure<"L5.18">(step >= window)) return false;
  }
  return split;
}

Lattice::Apart Lattice::find_apart(int k, int tensor, int pending, int dim) const {
  const Box& box = boxes_[k];
  const Problem& p = resolved_.problem;
  Apart found;
  if (spatial_between(spatial_, only(dim), resolved_.memories[k], p.levels) == 1) return found;
  // Only the dims of one rank matter: a small table, spread over the box.
  const Problem::AffineRank& rank = rank_with(p, tensor, dim);
  Factor factor;
  int cells = 1;
  for (int i = 0; i < rank.terms; ++i) {
    if (factor.stride[rank.dim[i]] != 0) continue;
    factor.stride[rank.dim[i]] = cells;
    cells *= box.extent[rank.dim[i]];
  }
  std::vector<double> apart(static_cast<std::size_t>(cells)), overlapping(apart.size());
  std::array<int, kMaxDims> node{};
  for (int cell = 0; cell < cells; ++cell) {
    for (int i = 0; i < rank.terms; ++i)
      node[rank.dim[i]] = cell / factor.stride[rank.dim[i]] % box.extent[rank.dim[i]];
    const bool is_apart = windows_apart(k, tensor, pending, dim, node);
    found.nowhere &= !is_apart;
    apart[static_cast<std::size_t>(cell)] = is_apart ? 0 : kInfinity;
    overlapping[static_cast<std::size_t>(cell)] = is_apart ? kInfinity : 0;
  }
  if (found.nowhere) return found;
  const auto size = static_cast<std::size_t>(box.size);
  found.apart = Array(store_, size, 0);
  found.overlapping = Array(store_, size, 0);
  factor.values = apart.data();
  add_product(fastest_first_, box.extent, 1, {&factor, 1}, found.apart.data());
  factor.values = overlapping.data();
  add_product(fastest_first_, box.extent, 1, {&factor, 1}, found.overlapping.data());
  return found;
}

}  // namespace pliant::exact
