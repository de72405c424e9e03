// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/lattice/apart.h"

#include <algorithm>

#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/words/windows.h"

namespace pliant::exact {

namespace {

const Problem::AffineRank& rank_with(const Problem& problem, int tensor, int dim) {
  return *std::find_if(problem.affine[tensor].begin(), problem.affine[tensor].end(),
                       [&](const Problem::AffineRank& rank) { return contains(dims_of(rank), dim); });
}

}  // namespace

bool windows_apart(const PendingWindows& of, int dim, const std::array<int, kMaxDims>& node) {
  const ResolvedTask& resolved = of.resolved;
  const Problem& p = resolved.problem;
  const int tensor = of.pairs.front().tensor;
  // The model counts the distinct values of a run of windows that start coefficient * tile apart. Each window lies in
  // an interval of length 1 + sum of coefficient * (tile - 1). If the starts are at least that far apart, no two
  // windows share a value, so the run has as many values as its windows together: what the plain charge says.
  if (!resolved.perfect || resolved.one_loop || resolved.walks) return false;
  const int level = resolved.memories[of.k];
  if (spatial_between(of.spatial, only(dim), level, p.levels) == 1) return false;
  const Problem::AffineRank& rank = rank_with(p, tensor, dim);
  const auto tile = [&](int d) { return static_cast<double>(of.boxes.axis(of.k, d).states[node[d]].tile); };
  bool split = false;
  for (const auto& [x, parent, child] : of.pairs) {
    if (child <= level || child == p.levels) continue;  // units have no windows
    split |= spatial_between(of.spatial, only(dim), level, child) > 1;
    bool unites = false;
    for (int l = level + 1; l < child; ++l) unites |= contains(p.uniting[tensor], l);
    double step = 0, window = 1;
    for (int i = 0; i < rank.terms; ++i) {
      const int d = rank.dim[i];
      const auto coefficient = static_cast<double>(rank.coefficient[i]);
      if (d == dim) step = coefficient * tile(d);
      window += coefficient * (tile(d) / (unites ? 1 : spatial_between(of.spatial, only(d), level, child)) - 1);
    }
    if (!sure<"L5.18">(step >= window)) return false;
  }
  return split;
}

ApartNodes::ApartNodes(const PendingWindows& of, int dim, ArrayStore& store) {
  const Problem& p = of.resolved.problem;
  const std::vector<int>& extent = of.boxes.extents(of.k);
  if (spatial_between(of.spatial, only(dim), of.resolved.memories[of.k], p.levels) == 1) return;
  // Only the dims of one rank matter: a small table, spread over the box.
  const Problem::AffineRank& rank = rank_with(p, of.pairs.front().tensor, dim);
  Factor factor;
  int cells = 1;
  for (int i = 0; i < rank.terms; ++i) {
    if (factor.stride[rank.dim[i]] != 0) continue;
    factor.stride[rank.dim[i]] = cells;
    cells *= extent[rank.dim[i]];
  }
  std::vector<double> is(static_cast<std::size_t>(cells)), is_not(is.size());
  std::array<int, kMaxDims> node{};
  for (int cell = 0; cell < cells; ++cell) {
    for (int i = 0; i < rank.terms; ++i) node[rank.dim[i]] = cell / factor.stride[rank.dim[i]] % extent[rank.dim[i]];
    const bool is_apart = windows_apart(of, dim, node);
    nowhere &= !is_apart;
    is[static_cast<std::size_t>(cell)] = is_apart ? 0 : kInfinity;
    is_not[static_cast<std::size_t>(cell)] = is_apart ? kInfinity : 0;
  }
  if (nowhere) return;
  const auto size = static_cast<std::size_t>(of.boxes.size(of.k));
  apart = Array(store, size, 0);
  overlapping = Array(store, size, 0);
  factor.values = is.data();
  of.boxes.add_product_of(of.k, 1, {&factor, 1}, apart);
  factor.values = is_not.data();
  of.boxes.add_product_of(of.k, 1, {&factor, 1}, overlapping);
}

}  // namespace pliant::exact
