// SPDX-License-Identifier: Apache-2.0
// Layers one after the other that may pass tiles on: which of their dims are one axis, and the stacks of loops over the
// axes of each tensor between them. docs/dev/fusion.md has the map-space.
#pragma once

#include <algorithm>
#include <compare>
#include <map>
#include <vector>

#include "costmodel/task.h"

namespace pliant::fusion {

/// Where a layer has an axis. Where its reader sees a window it makes what is new for the reader's tile: up to element
/// step * tile * round + overlap - padding of its dim, which has `size` elements.
struct Place {
  int dim = -1;  ///< -1 = it has none
  Count size = 0, step = 1, overlap = 0;
  Count padding = 0;    ///< that the reader sees before the first element
  bool slides = false;  ///< rounds are not all alike, or some elements are needed in two

  Count begin(Count tile, Count round) const { return std::max<Count>(0, step * tile * round - padding); }
  Count end(Count tile, Count round, Count rounds) const {
    return round + 1 == rounds ? size : std::min(size, step * tile * (round + 1) + overlap - padding);
  }
  struct Window {
    std::map<Count, Count> made;  ///< elements that a round makes, and how many rounds do
    Count held = 0;               ///< most that are needed in one round
    Count kept = 0;               ///< most that are needed again in the next
  };
  Window window(Count tile, Count rounds) const;
};

struct Axis {
  Count size = 0;
  std::vector<Place> at;  ///< by layer
};

/// The tensor between two layers of a chain.
struct Link {
  int made = 0, read = 0;     ///< tensor of the layer that makes it, and of the one that reads it
  std::vector<int> axes;      ///< what loops may cut it along
  std::vector<bool> windows;  ///< by place in `axes`: its reader sees a window
};

/// A loop over the tiles of an axis.
struct TileLoop {
  int axis = 0;
  Count tile = 1;
  auto operator<=>(const TileLoop&) const = default;
};
using Stack = std::vector<TileLoop>;  ///< outermost first

struct Chain {
  std::vector<const Task*> layers;
  std::vector<Axis> axes;
  std::vector<Link> links;  ///< one less than layers

  const Layer& layer(int l) const { return layers[static_cast<std::size_t>(l)]->layer; }
  const Place& place(int axis, int l) const {
    return axes[static_cast<std::size_t>(axis)].at[static_cast<std::size_t>(l)];
  }
  Count trips(const TileLoop& loop) const { return axes[static_cast<std::size_t>(loop.axis)].size / loop.tile; }
  /// Does the loop tell elements of the layer's tensor apart?
  bool indexes(const TileLoop& loop, int l, int tensor) const;
};

/// What is between two layers of a chain.
struct Between {
  int read = 0;             ///< tensor of the layer that reads it
  bool whole_rows = false;  ///< an operator in between needs the last index of it whole
};
/// Links without axes have nothing to cut.
Chain make_chain(std::vector<const Task*> layers, const std::vector<Between>& between);

inline constexpr std::size_t kDeepestStack = 2;

/// All stacks of a link, of one loop or more.
std::vector<Stack> all_stacks(const Chain& chain, int link);

/// Is one the beginning of the other?
bool nest_together(const Stack& a, const Stack& b);

}  // namespace pliant::fusion
