// SPDX-License-Identifier: Apache-2.0
// Words of operands with windows that units need whatever the tiles: windows of different units overlap, but each unit
// is brought what it works on, and only equal windows are served once for several.
#include <algorithm>

#include "dse/mappers/exact/lattice/certain_copies.h"
#include "dse/mappers/exact/lattice/costs.h"
#include "dse/mappers/exact/lattice/windows.h"

namespace pliant::exact {

namespace {

/// Values along a rank that units need, added up: a unit with n iterations of one dim and m of another needs at least
/// n + m - 1, and where it has all iterations of the other, as many as these leave remainders by the stride for each n.
double values_needed(const Problem& p, const Problem::AffineRank& rank, const std::array<double, kMaxDims>& units) {
  double all_units = 1, needed = 0;
  for (int i = 0; i < rank.terms; ++i) all_units *= units[rank.dim[i]];
  for (int i = 0; i < rank.terms; ++i) needed += p.size[rank.dim[i]] * all_units / units[rank.dim[i]];
  needed -= (rank.terms - 1) * all_units;
  if (rank.terms != 2) return needed;
  for (int i = 0; i < 2; ++i) {
    const int d = rank.dim[i], e = rank.dim[1 - i];
    if (units[e] > 1) continue;
    const double residues = std::min(rank.reduced[i], p.size[e]);
    needed = std::max(needed, residues * p.size[d] + units[d] * (p.size[e] - residues));
  }
  return needed;
}

}  // namespace

/// Windows of different units overlap, but each unit is brought what it works on.
void Costs::count_windows() {
  const Problem& p = resolved_.problem;
  const Conventions& conventions = p.conventions;
  if (conventions.halo != Conventions::Halo::kRun || conventions.footprint != Conventions::Footprint::kDistinct) return;
  bool any = false;
  for (int x = 0; x < p.tensors; ++x) any |= windowed(x);
  if (!any) return;
  std::array<CertainCopies, kMaxDims> certain;
  std::array<double, kMaxDims> units;
  units.fill(1);
  for (int l = 0; l < p.levels; ++l) {
    if (!p.is_memory[l]) {
      for (int d = 0; d < p.dims; ++d) {
        if (spatial_.factor[l][d] == 1) continue;
        certain[d].add(spatial_, l, d);
        units[d] = resolved_.perfect ? units[d] * static_cast<double>(spatial_.factor[l][d]) : certain[d].count();
      }
      continue;
    }
    for (int x = 0; x < p.tensors; ++x) {
      if (!windowed(x)) continue;
      needed_[x][l] = p.simple_words[x];
      for (const Problem::AffineRank& rank : p.affine[x])
        needed_[x][l] *= std::max(extent(p, rank, p.size, true), values_needed(p, rank, units));
      windows_need_more_ |= needed_[x][l] > p.tensor_words[x];
    }
  }
}

double Costs::asked_for(const KeeperPair& pair) const {
  const Problem& p = resolved_.problem;
  const double once = p.tensor_words[pair.tensor];
  if (needed(pair) == once) return once;
  // Elsewhere windows may be short, and these be equal.
  if (!resolved_.perfect && resolved_.rules.factorization != Factorization::kRubyS) return once;
  double share = 1;
  for_each_network(p, pair.parent, pair.child, [&](const std::pair<int, int>& network) {
    const Sharing s = sharing(p, network, pair.tensor);
    for (const Problem::AffineRank& rank : p.affine[pair.tensor]) {
      const double units = spatial_between(spatial_, dims_of(rank), network.first - 1, network.second + 1);
      // Overlapping windows that are served together may be asked for once.
      share *= s.partial ? 0 : s.shared ? fewest_windows(spatial_, rank, network, true) / units : 1;
    }
  });
  return std::max(once, share * needed(pair));
}

}  // namespace pliant::exact
