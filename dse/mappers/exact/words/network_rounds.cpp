// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/words/network_rounds.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "core/affine.h"
#include "costmodel/bits.h"

namespace pliant::exact {

namespace {

using Sizes = std::array<double, kMaxDims>;

/// Rounds that are alike along one dim: how many tiles each has, and whether the last of these is short.
struct AlongOneDim {
  Count tiles = 1;
  bool ends_short = false;
};

class NetworkRounds {
 public:
  NetworkRounds(const Spatial& spatial, const Problem::AffineRank& rank, std::pair<int, int> network, const Sizes& size,
                const Sizes& tile, const std::function<double(const Sizes& tile)>& words)
      : spatial_(spatial), rank_(rank), network_(network), size_(size), tile_(tile), words_(words), last_(tile) {
    for (const int d : members(dims_of(rank))) last_[d] = size[d] - (tiles(d) - 1) * tile[d];
  }

  /// Along each dim all rounds but the last are alike.
  double words_from(int term, double times) {
    if (term == rank_.terms) return times * words_of_one();
    const int d = rank_.dim[term];
    const auto all = static_cast<Count>(tiles(d));
    const auto units = static_cast<Count>(spatial_between(spatial_, only(d), network_.first - 1, network_.second + 1));
    const Count at_once = std::min(units, all), of_last = (all - 1) % at_once + 1;
    double total = 0;
    if (const Count before = (all - of_last) / at_once; before > 0) {
      round_[d] = {at_once, false};
      total += words_from(term + 1, times * static_cast<double>(before));
    }
    round_[d] = {of_last, last_[d] < tile_[d]};
    return total + words_from(term + 1, times);
  }

 private:
  double tiles(int dim) const { return std::ceil(size_[dim] / tile_[dim]); }

  /// Words of the round: first of the windows that begin where full ones do; then, dim by dim, of those that begin
  /// where only windows that are short along it do. What is longest when it is short comes first.
  double words_of_one() const {
    Sizes sizes = tile_;
    DimSet spread = 0;  // dims whose last tile is short and has full ones beside it
    for (const int d : members(dims_of(rank_))) {
      if (!round_[d].ends_short) continue;
      if (round_[d].tiles == 1)
        sizes[d] = last_[d];
      else
        spread |= only(d);
    }
    const auto short_along = [&](DimSet dims) {
      Sizes some = sizes;
      for (const int d : members(dims)) some[d] = last_[d];
      return words_(some);
    };
    double begun = beginnings(spread), total = begun * words_(sizes);
    for (DimSet full = spread; full != 0;) {
      int next = -1;
      double words = 0;
      for (const int d : members(full))
        if (const double here = short_along(only(d)); next < 0 || here > words) next = d, words = here;
      const DimSet before = spread & ~full;
      full &= ~only(next);
      const double now = beginnings(full), fresh = now - begun;
      const double shorter = before == 0 ? 0 : std::min(fresh, short_along_both(spread));
      total += (fresh - shorter) * words + shorter * short_along(before | only(next));
      begun = now;
    }
    return total;
  }

  /// Different values at which windows of the round begin; of some dims the last tile is left out.
  double beginnings(DimSet without_last) const {
    std::array<Stride, kMaxDims> strides;
    std::size_t n = 0;
    for (int i = 0; i < rank_.terms; ++i) {
      const int d = rank_.dim[i];
      const Count tiles = round_[d].tiles - (contains(without_last, d) ? 1 : 0);
      if (tiles > 1) strides[n++] = {rank_.coefficient[i] * static_cast<Count>(tile_[d]), tiles};
    }
    return static_cast<double>(distinct_values(std::span<const Stride>(strides.data(), n)));
  }

  /// At most so many windows are short along some dims together: of two dims, one for each tile along the others.
  double short_along_both(DimSet dims) const {
    if (std::popcount(dims) > 2) return kInfinity;
    double tiles = 1;
    for (const int d : members(dims_of(rank_) & ~dims)) tiles *= static_cast<double>(round_[d].tiles);
    return tiles;
  }

  const Spatial& spatial_;
  const Problem::AffineRank& rank_;
  const std::pair<int, int> network_;
  const Sizes& size_;
  const Sizes& tile_;
  const std::function<double(const Sizes& tile)>& words_;
  Sizes last_;
  std::array<AlongOneDim, kMaxDims> round_;
};

}  // namespace

double words_of_rounds(const Spatial& spatial, const Problem::AffineRank& rank, std::pair<int, int> network,
                       const std::array<double, kMaxDims>& size, const std::array<double, kMaxDims>& tile,
                       const std::function<double(const std::array<double, kMaxDims>& tile)>& words) {
  return NetworkRounds(spatial, rank, network, size, tile, words).words_from(0, 1);
}

}  // namespace pliant::exact
