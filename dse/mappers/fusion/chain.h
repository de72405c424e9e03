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
  /// Of an axis that counts layers of a node (attention heads) instead of indices: by layer, the tensors of which each
  /// has its own.
  std::vector<TensorSet> own{};
  bool in_all = false;  ///< an index of every tensor of every layer: products side by side
  bool counts() const { return !own.empty(); }
};

/// The tensor between two layers of a chain.
struct Link {
  int made = 0, read = 0;     ///< tensor of the layer that makes it, and of the one that reads it
  std::vector<int> axes;      ///< what loops may cut it along
  std::vector<bool> windows;  ///< by place in `axes`: its reader sees a window
  int online = -1;            ///< the axis of its rows, where an operator goes through them part by part
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
  std::vector<Link> links;      ///< one less than layers
  int groups = -1, heads = -1;  ///< axes that count layers: groups that share operands, and layers of a group

  const Layer& layer(int l) const { return layers[static_cast<std::size_t>(l)]->layer; }
  const Place& place(int axis, int l) const {
    return axes[static_cast<std::size_t>(axis)].at[static_cast<std::size_t>(l)];
  }
  /// How many times the chain runs: the layers that its nodes count.
  Count count() const {
    Count product = 1;
    for (const Axis& axis : axes) product *= axis.counts() ? axis.size : 1;
    return product;
  }
  Count trips(const TileLoop& loop) const { return axes[static_cast<std::size_t>(loop.axis)].size / loop.tile; }
  /// Does the loop tell elements of the layer's tensor apart?
  bool indexes(const TileLoop& loop, int l, int tensor) const;
};

/// What is between two layers of a chain.
struct Between {
  int read = 0;             ///< tensor of the layer that reads it
  bool whole_rows = false;  ///< an operator in between needs the last index of it whole
  bool online = false;      ///< a softmax in between goes through the last index part by part
};
/// Nodes that count so many layers each (attention heads): `shared` of them, one after the other, read the same words
/// of some operands (keys and values of grouped queries).
struct Heads {
  Count count = 1, shared = 1;
  std::vector<TensorSet> same{};  ///< by layer: those operands
  auto operator<=>(const Heads&) const = default;
};
/// Links without axes have nothing to cut but their heads.
Chain make_chain(std::vector<const Task*> layers, const std::vector<Between>& between, const Heads& heads = {});

/// Loops over indices. Those that count layers come on top, and so does an outermost one over products side by side.
inline constexpr std::size_t kDeepestStack = 2;

/// All stacks of a link, of one loop or more.
std::vector<Stack> all_stacks(const Chain& chain, int link);

/// What a memory may hold; a design that says nothing allows everything.
FusionRule rule_at(const Accelerator& accelerator, int memory);
/// Does the hardware allow the tile of a link under a stack? Loops over counted layers are not limited.
bool allows(const FusionRule& rule, const Chain& chain, int link, const Stack& stack);

/// Is one the beginning of the other?
bool nest_together(const Stack& a, const Stack& b);

}  // namespace pliant::fusion
