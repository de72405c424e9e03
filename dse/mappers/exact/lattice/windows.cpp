// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/lattice/windows.h"

#include <algorithm>
#include <bit>
#include <span>

#include "core/affine.h"
#include "core/arithmetic.h"
#include "flex/mapspace/factors.h"

namespace pliant::exact {

DimSet dims_of(const Problem::AffineRank& rank) {
  DimSet set = 0;
  for (int i = 0; i < rank.terms; ++i) set |= DimSet{1} << rank.dim[i];
  return set;
}

double extent(const Problem& problem, const Problem::AffineRank& rank, const std::array<double, kMaxDims>& tile,
              bool distinct) {
  std::array<Stride, kMaxDims> strides;
  std::size_t n = 0;
  for (int i = 0; i < rank.terms; ++i)
    if (tile[rank.dim[i]] > 1) strides[n++] = {rank.coefficient[i], static_cast<Count>(tile[rank.dim[i]])};
  const std::span<const Stride> all(strides.data(), n);
  if (n == 0) return 1;
  if (!distinct && problem.conventions.footprint == Conventions::Footprint::kBoundingBox)
    return static_cast<double>(bounding_extent(all));
  if (n == 1) return static_cast<double>(strides[0].count);
  return static_cast<double>(distinct_values(all));
}

std::vector<std::pair<int, int>> networks_between(const Problem& problem, int outside, int inside) {
  std::vector<std::pair<int, int>> networks;
  for (int l = inside - 1; l > outside; --l) {
    if (problem.is_memory[l]) continue;
    const int innermost = l;
    while (l - 1 > outside && !problem.is_memory[l - 1]) --l;
    networks.emplace_back(l, innermost);
  }
  return networks;
}

Sharing sharing(const Problem& problem, std::pair<int, int> network, int tensor) {
  Sharing s{false, false};
  for (int l = network.first; l <= network.second; ++l) {
    s.shared |= (problem.sharing_equal[tensor] >> l & 1U) != 0;
    s.partial |= (problem.uniting[tensor] >> l & 1U) != 0;
  }
  return s;
}

double windows(const Spatial& spatial, const Problem::AffineRank& rank, std::pair<int, int> network,
               const std::array<double, kMaxDims>& below, bool shared) {
  std::array<Stride, kMaxDims> strides;
  std::size_t n = 0;
  double product = 1;
  for (int i = 0; i < rank.terms; ++i) {
    const double count = spatial_between(spatial, DimSet{1} << rank.dim[i], network.first - 1, network.second + 1);
    if (count == 1) continue;
    product *= count;
    strides[n++] = {rank.coefficient[i] * static_cast<Count>(below[rank.dim[i]]), static_cast<Count>(count)};
  }
  if (!shared || n < 2) return product;
  return static_cast<double>(distinct_values(std::span<const Stride>(strides.data(), n)));
}

double fewest_windows(const Spatial& spatial, const Problem::AffineRank& rank, std::pair<int, int> network,
                      bool shared) {
  double product = 1, sum = 1;
  for (int i = 0; i < rank.terms; ++i) {
    const double count = spatial_between(spatial, DimSet{1} << rank.dim[i], network.first - 1, network.second + 1);
    product *= count;
    sum += count - 1;
  }
  return shared ? sum : product;
}

double fewest_windows_beyond(const Spatial& spatial, const Problem::AffineRank& rank, std::pair<int, int> network,
                             int level, const std::array<double, kMaxDims>& tile,
                             const std::array<double, kMaxDims>& left) {
  std::vector<int> spread;
  std::array<double, kMaxDims> below{};
  for (DimSet rest = dims_of(rank); rest != 0; rest &= rest - 1) {
    const int d = std::countr_zero(rest);
    below[d] = tile[d] * spatial_between(spatial, DimSet{1} << d, network.second, level);
    if (spatial_between(spatial, DimSet{1} << d, network.first - 1, network.second + 1) > 1) spread.push_back(d);
  }
  if (spread.size() < 2) return windows(spatial, rank, network, below, true);
  double fewest = kInfinity;
  const auto choose = [&](auto&& self, std::size_t i) -> void {
    if (i == spread.size()) {
      fewest = std::min(fewest, windows(spatial, rank, network, below, true));
      return;
    }
    const int d = spread[i];
    const double least = below[d];
    const auto loops = static_cast<Count>(left[d] / spatial_between(spatial, DimSet{1} << d, -1, level));
    for (Count m = 1; m * m <= loops; ++m) {  // divisors come in pairs
      if (loops % m != 0) continue;
      for (const Count factor : {m, loops / m}) {
        below[d] = least * static_cast<double>(factor);
        self(self, i + 1);
      }
    }
    below[d] = least;
  };
  choose(choose, 0);
  return fewest;
}

namespace {

/// Tiles that a network's loops over one dim find at least: all of their bounds but the outermost are full in every
/// round of that one except the last.
Count fewest_tiles_found(const Spatial& spatial, std::pair<int, int> network, int d) {
  Count inner = 1, outermost = 1;
  for (int l = network.second; l >= network.first; --l)
    for (const Count bound : {Count{spatial.unrolling[l]->cols[d]}, Count{spatial.unrolling[l]->rows[d]}}) {
      if (bound == 1) continue;
      inner *= outermost;
      outermost = bound;
    }
  return (outermost - 1) * inner + 1;
}

}  // namespace

double fewest_windows_among_rests(const Spatial& spatial, const Problem::AffineRank& rank, std::pair<int, int> network,
                                  int level, const std::array<double, kMaxDims>& tile,
                                  const std::array<double, kMaxDims>& left, bool loops_divide) {
  constexpr double kMostTiles = 4096;
  const double whatever_the_tile = fewest_windows(spatial, rank, network, true);
  struct Spread {
    int dim;
    std::vector<Count> below;
  };
  std::vector<Spread> spread;
  std::array<double, kMaxDims> below{};
  double combinations = 1;
  for (DimSet rest = dims_of(rank); rest != 0; rest &= rest - 1) {
    const int d = std::countr_zero(rest);
    below[d] = tile[d];
    if (spatial_between(spatial, DimSet{1} << d, network.first - 1, network.second + 1) == 1) continue;
    const auto between = static_cast<Count>(spatial_between(spatial, DimSet{1} << d, network.second, level));
    const auto found = static_cast<Count>(left[d]);
    const Count least = fewest_tiles_found(spatial, network, d);
    Spread& one = spread.emplace_back(Spread{d, {}});
    const auto add = [&](Count loops) {
      if (ceil_div(found, between * loops) < least) return false;
      one.below.push_back(static_cast<Count>(tile[d]) * between * loops);
      return static_cast<double>(one.below.size()) <= kMostTiles;
    };
    if (loops_divide && between == 1)
      for (const Count m : divisors(found)) add(m);
    else
      for (Count m = 1; add(m);) ++m;
    combinations *= static_cast<double>(one.below.size());
    if (combinations == 0 || combinations > kMostTiles) return whatever_the_tile;
  }
  if (spread.size() < 2) return windows(spatial, rank, network, below, true);
  double fewest = kInfinity;
  const auto choose = [&](auto&& self, std::size_t i) -> void {
    if (fewest == whatever_the_tile) return;
    if (i == spread.size()) {
      fewest = std::min(fewest, windows(spatial, rank, network, below, true));
      return;
    }
    for (const Count size : spread[i].below) {
      below[spread[i].dim] = static_cast<double>(size);
      self(self, i + 1);
    }
  };
  choose(choose, 0);
  return fewest;
}

bool unrolls_alone(const Spatial& spatial, const Problem::AffineRank& rank, std::pair<int, int> network,
                   const std::vector<std::pair<int, int>>& networks) {
  return std::ranges::all_of(networks, [&](const auto& other) {
    return other == network || spatial_between(spatial, dims_of(rank), other.first - 1, other.second + 1) == 1;
  });
}

bool displacement_walks(const Problem& problem, const Problem::AffineRank& rank) {
  if (problem.conventions.halo != Conventions::Halo::kDisplacement &&
      problem.conventions.halo != Conventions::Halo::kTwoIterations)
    return false;
  int moving = 0;
  for (int i = 0; i < rank.terms; ++i) moving += problem.size[rank.dim[i]] > 1 ? 1 : 0;
  return moving > 1;
}

bool displacement_walks(const Problem& problem) {
  for (int x = 0; x < problem.tensors; ++x)
    for (const Problem::AffineRank& rank : problem.affine[x])
      if (displacement_walks(problem, rank)) return true;
  return false;
}

bool deals_boxes(const Problem& problem) {
  return problem.conventions.footprint == Conventions::Footprint::kBoundingBox &&
         !problem.affine[problem.output].empty();
}

double spatial_between(const Spatial& spatial, DimSet dims, int outside, int inside) {
  double product = 1;
  for (int l = outside + 1; l < inside; ++l)
    for (DimSet rest = dims; rest != 0; rest &= rest - 1)
      product *= static_cast<double>(spatial.factor[l][std::countr_zero(rest)]);
  return product;
}

}  // namespace pliant::exact
