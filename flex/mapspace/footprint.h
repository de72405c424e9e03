// SPDX-License-Identifier: Apache-2.0
// Words of a tensor's tile, as everything that generates mappings counts them. core/legality.h counts them by itself.
#pragma once

#include <array>
#include <bit>
#include <span>
#include <vector>

#include "core/accelerator.h"
#include "core/affine.h"
#include "core/layer.h"

namespace pliant {

class Footprint {
 public:
  Footprint() = default;
  Footprint(const Layer& layer, Conventions::Footprint convention);

  /// In floating point: exact below 2^53 and never too small above. `tile(d)` is the tile's size along dim d.
  template <typename Tile>
  double words(int tensor, const Tile& tile) const {
    const Shape& shape = shapes_[static_cast<std::size_t>(tensor)];
    double product = 1;
    for (DimSet plain = shape.plain; plain != 0; plain &= plain - 1)
      product *= static_cast<double>(tile(std::countr_zero(plain)));
    for (const AffineRank& rank : shape.affine) product *= extent(rank, tile);
    return product;
  }

  /// Does the dim stand alone in every index that mentions it, so that words are linear in its tile?
  bool is_linear(int tensor, int dim) const {
    return (shapes_[static_cast<std::size_t>(tensor)].mixed >> dim & 1) == 0;
  }

 private:
  struct AffineRank {
    int terms = 0;
    std::array<int, kMaxDims> dim{};
    std::array<Count, kMaxDims> coefficient{};
  };
  /// Words are the product of the tiles of the plain dims and of the affine ranks' extents.
  struct Shape {
    DimSet plain = 0, mixed = 0;
    std::vector<AffineRank> affine;
  };

  template <typename Tile>
  double extent(const AffineRank& rank, const Tile& tile) const {
    if (rank.terms == 2 && distinct_)
      return static_cast<double>(
          distinct_values(rank.coefficient[0], tile(rank.dim[0]), rank.coefficient[1], tile(rank.dim[1])));
    std::array<Stride, kMaxDims> strides;
    for (std::size_t i = 0; i < static_cast<std::size_t>(rank.terms); ++i)
      strides[i] = {rank.coefficient[i], tile(rank.dim[i])};
    const std::span<const Stride> all(strides.data(), static_cast<std::size_t>(rank.terms));
    return static_cast<double>(distinct_ ? distinct_values(all) : bounding_extent(all));
  }

  bool distinct_ = true;
  std::array<Shape, kMaxTensors> shapes_;
};

}  // namespace pliant
