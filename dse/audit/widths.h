// SPDX-License-Identifier: Apache-2.0
// Bits of elements, indices that share a dim, and elements of tiles, as the auditor counts them.
#pragma once

#include <array>
#include <vector>

#include "core/accelerator.h"
#include "core/layer.h"

namespace pliant::audit {

/// What a memory spends on an element: as the memory says, else the layer, else the accelerator, else a word.
class Widths {
 public:
  Widths(const Layer& layer, const Accelerator& accelerator) : layer_(layer), accelerator_(accelerator) {}
  int of(int level, Role role) const;
  /// A result while it is added to: never narrower than when it is finished.
  int of_sums(int level) const;
  /// What a tile reserves.
  int held(int level, int tensor) const;

 private:
  const Layer& layer_;
  const Accelerator& accelerator_;
};

/// Ranks of a tensor that share a dim, each weighed so that different elements have different sums: position by
/// position, as digits of a number. `sizes` are the largest that dims may have.
std::vector<Rank> joined_ranks(const std::vector<Rank>& ranks, const std::vector<Count>& sizes);

/// Elements of the tiles of a layer's tensors.
class TileElements {
 public:
  /// `sizes`: by dim, the largest tile.
  TileElements(const Layer& layer, Conventions::Footprint convention, const std::vector<Count>& sizes);
  struct Elements {
    double fewest = 1;
    bool exactly = true;  ///< otherwise there may be more
  };
  Elements of(int tensor, const std::array<Count, kMaxDims>& tile) const;

 private:
  bool boxes_ = false;
  std::vector<std::vector<Rank>> ranks_;  ///< by tensor
};

}  // namespace pliant::audit
