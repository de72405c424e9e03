// SPDX-License-Identifier: Apache-2.0
// Where energy and cycles are least in different mappings, lines leave a gap between the two. Every mapping has one
// tile at each memory and one order of the loops there. So the least over the tiles of a memory of what is known of
// each is a bound, and for a tile that is left open the least over the orders of the loops outside it, and over the
// tiles of the memories inside.
#include <algorithm>
#include <optional>
#include <utility>

#include "core/arithmetic.h"
#include "dse/audit/lower_bound.h"

namespace pliant::audit {

/// One choice with perfect factors.
class TileByTile {
 public:
  TileByTile(const ChoiceBound& bound, ChoiceBound::Way& way, double steps, double target)
      : bound_(bound),
        way_(way),
        tiles_(way.tiles),
        steps_(steps),
        target_(target),
        enough_(target * (1 - kRounding)),
        node_(bound.rules_.memories.size(), tiles_.nodes() - 1) {}

  /// The least over the tiles of this memory, counted from the inside; 0: one of them is open, and others were not
  /// looked at.
  double least_at(std::size_t k) {
    double least = kInfinity;
    for (std::uint32_t node = 0; node < tiles_.nodes() && least >= enough_; ++node) {
      if (!tiles_.ends(k, node)) continue;
      node_[k] = node;
      tiles_.fix_tile(k, node);
      least = std::min(least, sharpened([&] { return least_order(k + 1, k); }));
      tiles_.fix_tile(k, std::nullopt);
    }
    return least >= enough_ ? least : 0;
  }

 private:
  /// Of what is decided by now, or what `open` says of it where that is not enough.
  template <typename Open>
  double sharpened(const Open& open) {
    if (++looked_ > kMostLooked || bound_.late_()) return 0;
    const double cycles = way_.cycles;
    const std::vector<double> before = way_.least;
    double least = 0;
    for (std::size_t m = 0; m < before.size() && least < enough_; ++m)
      least = bound_.by_measure(way_, m, steps_, target_);
    if (least < enough_) least = std::max(least, bound_.by_all_lines(way_, steps_, target_));
    if (least < enough_) least = std::max(least, open());
    way_.least = before;
    way_.cycles = cycles;
    return least;
  }

  /// The least over the orders of the loops of memory k, whose tile is decided and that of the memory inside it, too:
  /// for each what is known of the tiles of memory `next` and those inside that.
  double least_order(std::size_t k, std::size_t next) {
    NestedTiles::Order order;
    for (int d = 0; d < bound_.p_.dims; ++d) {
      const Count inside = k > 0 ? tiles_.inside(node_[k - 1], d) : 1, here = tiles_.inside(node_[k], d);
      if (here % inside != 0) return kInfinity;  // no mapping has these tiles
      if (here > inside) order.push_back(DimSet{1} << d);
    }
    const auto further = [&] {
      if (next > 0) return least_at(next - 1);
      return k > 0 ? least_order(0, 0) : 0;
    };
    if (order.size() < 2) return further();
    double least = kInfinity;
    do {
      tiles_.fix_order(k, order);
      least = std::min(least, sharpened(further));
    } while (least >= enough_ && std::ranges::next_permutation(order).found);
    tiles_.fix_order(k, std::nullopt);
    return least >= enough_ ? least : 0;
  }

  static constexpr int kMostLooked = 20'000;  ///< tiles and orders

  const ChoiceBound& bound_;
  ChoiceBound::Way& way_;
  NestedTiles& tiles_;
  const double steps_, target_, enough_;
  std::vector<std::uint32_t> node_;  ///< by memory, from the inside: its tile, where it is decided
  int looked_ = 0;
};

double ChoiceBound::tile_by_tile(Way& way, double steps, double target) const {
  constexpr std::uint32_t kMostTiles = 4096;
  if (rules_.memories.size() < 2 || way.tiles.nodes() > kMostTiles) return 0;
  return TileByTile(*this, way, steps, target).least_at(rules_.memories.size() - 2);
}

}  // namespace pliant::audit
