// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/words/windows.h"

#include <algorithm>
#include <bit>
#include <span>

#include "core/affine.h"
#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "flex/mapspace/factors.h"

namespace pliant::exact {

std::vector<std::pair<int, int>> networks_between(const Problem& problem, int outside, int inside) {
  std::vector<std::pair<int, int>> networks;
  for_each_network(problem, outside, inside, [&](const std::pair<int, int>& network) { networks.push_back(network); });
  return networks;
}

Sharing sharing(const Problem& problem, std::pair<int, int> network, int tensor) {
  Sharing s{false, false};
  for (int l = network.first; l <= network.second; ++l) {
    s.shared |= contains(problem.sharing_equal[tensor], l);
    s.partial |= contains(problem.uniting[tensor], l);
  }
  return s;
}

double windows(const Spatial& spatial, const Problem::AffineRank& rank, std::pair<int, int> network,
               const std::array<double, kMaxDims>& below, bool shared) {
  std::array<Stride, kMaxDims> strides;
  std::size_t n = 0;
  double product = 1;
  for (int i = 0; i < rank.terms; ++i) {
    const double count = spatial_between(spatial, only(rank.dim[i]), network.first - 1, network.second + 1);
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
    const double count = spatial_between(spatial, only(rank.dim[i]), network.first - 1, network.second + 1);
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
  for (const int d : members(dims_of(rank))) {
    below[d] = tile[d] * spatial_between(spatial, only(d), network.second, level);
    if (spatial_between(spatial, only(d), network.first - 1, network.second + 1) > 1) spread.push_back(d);
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
    const auto loops = static_cast<Count>(left[d] / spatial_between(spatial, only(d), -1, level));
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

/// A dim that a network unrolls: the tiles it may find, and for each the rounds of its units.
struct SpreadDim {
  struct Rounds {
    Count step = 1;                  // between windows of neighbours
    double tiles = 1;                // found by the network
    std::array<Count, 2> at_work{};  // units, in full rounds and in the last one
    std::array<double, 2> rounds{};
  };
  std::vector<Rounds> ways;
};

/// Rounds of a network's units over some tiles; `exact` if the tiles are all full.
SpreadDim::Rounds rounds_of(Count units, Count tiles, Count step, bool exact) {
  const Count most = std::min(units, tiles);
  const auto all = static_cast<double>(tiles);
  if (!exact) return {step, all, {most, 1}, {all / static_cast<double>(most), 0}};
  return {step,
          all,
          {most, std::max(Count{1}, tiles % most)},
          {static_cast<double>(tiles / most), tiles % most == 0 ? 0.0 : 1.0}};
}

/// Different windows over all rounds, as a share of the tiles.
double share_of_windows(std::span<const SpreadDim::Rounds* const> dims) {
  double windows = 0, tiles = 1;
  for (const SpreadDim::Rounds* dim : dims) tiles *= dim->tiles;
  for (std::uint32_t last = 0; last < 1U << dims.size(); ++last) {
    std::array<Stride, kMaxDims> strides;
    double rounds = 1;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      strides[i] = {dims[i]->step, dims[i]->at_work[last >> i & 1U]};
      rounds *= dims[i]->rounds[last >> i & 1U];
    }
    if (rounds > 0)
      windows += rounds * static_cast<double>(distinct_values(std::span<const Stride>(strides.data(), dims.size())));
  }
  return windows / tiles;
}

}  // namespace

double least_share_of_windows(const Spatial& spatial, const Problem::AffineRank& rank, std::pair<int, int> network,
                              int level, const std::array<double, kMaxDims>& tile,
                              const std::array<double, kMaxDims>& left, bool loops_divide) {
  constexpr std::size_t kMostTiles = 4096;
  std::vector<SpreadDim> spread;
  double combinations = 1;
  for (int i = 0; i < rank.terms; ++i) {
    const int d = rank.dim[i];
    const auto units = static_cast<Count>(spatial_between(spatial, only(d), network.first - 1, network.second + 1));
    if (units == 1) continue;
    const auto between = static_cast<Count>(spatial_between(spatial, only(d), network.second, level));
    const bool divides = loops_divide && between == 1;
    const auto found = static_cast<Count>(left[d]);
    const Count step = rank.coefficient[i] * static_cast<Count>(tile[d]) * between;
    const Count least = fewest_tiles_found(spatial, network, d);
    std::vector<SpreadDim::Rounds>& ways = spread.emplace_back().ways;
    const auto add = [&](Count loops) {
      const Count tiles = ceil_div(found, between * loops);
      if (tiles < least) return false;
      ways.push_back(rounds_of(units, tiles, step * loops, divides));
      return ways.size() <= kMostTiles;
    };
    if (divides)
      for (const Count m : divisors(found)) add(m);
    else
      for (Count m = 1; add(m);) ++m;
    combinations *= static_cast<double>(ways.size());
  }
  if (spread.size() < 2) return 1;
  const double whatever_the_tile = fewest_windows(spatial, rank, network, true) /
                                   spatial_between(spatial, dims_of(rank), network.first - 1, network.second + 1);
  if (combinations == 0 || combinations > kMostTiles) return whatever_the_tile;
  double least = kInfinity;
  std::vector<const SpreadDim::Rounds*> chosen(spread.size());
  const auto choose = [&](auto&& self, std::size_t i) -> void {
    if (i == spread.size()) {
      least = std::min(least, share_of_windows(chosen));
      return;
    }
    for (const SpreadDim::Rounds& way : spread[i].ways) {
      chosen[i] = &way;
      self(self, i + 1);
    }
  };
  choose(choose, 0);
  return least;
}

bool unrolls_alone(const Spatial& spatial, const Problem::AffineRank& rank, std::pair<int, int> network,
                   const std::vector<std::pair<int, int>>& networks) {
  return std::ranges::all_of(networks, [&](const auto& other) {
    return other == network || spatial_between(spatial, dims_of(rank), other.first - 1, other.second + 1) == 1;
  });
}

}  // namespace pliant::exact
