// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/words/needed_windows.h"

#include <algorithm>

#include "costmodel/bits.h"
#include "dse/mappers/exact/chain/certain_copies.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/words/windows.h"

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

/// Can the tile under a network only be one iteration, for loops divide the dim and leave the network too few
/// otherwise?
bool tile_is_one(const ResolvedTask& resolved, const Spatial& spatial, std::pair<int, int> network, int d) {
  const DimSet dim = only(d);
  const Count units = static_cast<Count>(spatial_between(spatial, dim, network.first - 1, network.second + 1));
  if (spatial_between(spatial, dim, network.second, resolved.problem.levels) > 1) return false;
  const Count size = resolved.task.layer.dims[static_cast<std::size_t>(d)].size;
  for (Count tile = 2; tile * (units - 1) < size; ++tile)
    if (size % tile == 0 && size / tile >= units) return false;
  return true;
}

/// Different windows among the units of a network, whatever the tiles. Units along a dim of one iteration each, of
/// coefficient 1, have neighbouring windows; those along another are at least its coefficient apart, and the further
/// they are the more windows differ.
double different_windows(const ResolvedTask& resolved, const Spatial& spatial, const Problem::AffineRank& rank,
                         std::pair<int, int> network) {
  double most = fewest_windows(spatial, rank, network, true);
  const auto units = [&](int d) { return spatial_between(spatial, only(d), network.first - 1, network.second + 1); };
  for (int i = 0; i < 2 && rank.terms == 2; ++i) {
    const int d = rank.dim[i], e = rank.dim[1 - i];
    if (rank.reduced[i] == 1 || rank.reduced[1 - i] != 1 || units(d) == 1 || units(e) == 1) continue;
    if (tile_is_one(resolved, spatial, network, e))
      most = std::max(most, std::min(rank.reduced[i], units(e)) * (units(d) - 1) + units(e));
  }
  return most;
}

}  // namespace

/// Windows of different units overlap, but each unit is brought what it works on.
NeededWindows::NeededWindows(const ResolvedTask& resolved, const Spatial& spatial)
    : resolved_(resolved), spatial_(spatial) {
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
        needed_[x][l] *= std::max(extent(p, rank, p.size, true), at_least<"L3.7">(values_needed(p, rank, units), 0));
      more_ |= needed_[x][l] > p.tensor_words[x];
    }
  }
}

double NeededWindows::asked_for(const KeeperPair& pair) const {
  const Problem& p = resolved_.problem;
  const double once = p.tensor_words[pair.tensor];
  if (of(pair) == once || (spatial_.open & below(pair.child) & ~below(pair.parent)) != 0) return once;
  // Elsewhere windows may be short, and these be equal.
  if (!resolved_.perfect && resolved_.rules.factorization != Factorization::kRubyS) return once;
  double share = 1;
  for_each_network(p, pair.parent, pair.child, [&](const std::pair<int, int>& network) {
    const Sharing s = sharing(p, network, pair.tensor);
    for (const Problem::AffineRank& rank : p.affine[pair.tensor]) {
      const double units = spatial_between(spatial_, dims_of(rank), network.first - 1, network.second + 1);
      // Overlapping windows that are served together may be asked for once.
      share *= s.partial ? 0 : s.shared ? different_windows(resolved_, spatial_, rank, network) / units : 1;
    }
  });
  return std::max(once, at_least<"L3.8">(share * of(pair), 0));
}

}  // namespace pliant::exact
