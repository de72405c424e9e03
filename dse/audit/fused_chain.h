// SPDX-License-Identifier: Apache-2.0
// Layers that may pass tiles on, as the auditor sees them: which of their dims are one axis, and every stack of loops
// that the tensors between them may have. Written after docs/dev/fusion.md; nothing of the mappers is used.
#pragma once

#include <compare>
#include <optional>
#include <vector>

#include "costmodel/task.h"

namespace pliant::audit {

/// A loop of a group: an axis of its chain and the tile that each round has of it.
struct GroupLoop {
  int axis = 0;
  Count tile = 1;
  auto operator<=>(const GroupLoop&) const = default;
};
using GroupLoops = std::vector<GroupLoop>;  ///< outermost first

/// What a layer of a chain does along an axis.
struct AxisPlace {
  int dim = -1;         ///< of the layer; -1 = none
  Count scale = 1;      ///< elements of the dim for one of the axis
  Count overlap = 0;    ///< that a window of its reader sees besides
  Count padding = 0;    ///< before the first element
  bool slides = false;  ///< rounds differ, or elements are needed again
};

/// Of a sliding window, by walking over its rounds.
struct SlidingRounds {
  std::vector<std::pair<Count, Count>> made;  ///< elements that are new in a round, and in how many rounds
  Count held = 0, kept = 0;                   ///< most that one round needs, and that the next needs again
};

struct FusedChain {
  struct Axis {
    Count size = 0;
    std::vector<AxisPlace> at;     ///< by layer
    std::vector<TensorSet> apart;  ///< of an axis that counts layers: by layer, the tensors of which each has its own
    bool everywhere = false;       ///< an index of every tensor of every layer
  };
  struct Link {
    int made = 0, read = 0;         ///< tensors of the two layers
    std::vector<int> axes, slides;  ///< that loops may run over; the second: those along which a window slides
    int rows = -1;                  ///< the axis along which an online softmax takes parts
  };
  std::vector<const Task*> layers;
  std::vector<Axis> axes;
  std::vector<Link> links;
  int group_axis = -1, head_axis = -1;

  const Layer& layer(std::size_t l) const { return layers[l]->layer; }
  const AxisPlace& place(const GroupLoop& loop, std::size_t l) const {
    return axes[static_cast<std::size_t>(loop.axis)].at[l];
  }
  bool counts(int axis) const { return !axes[static_cast<std::size_t>(axis)].apart.empty(); }
  Count rounds(const GroupLoop& loop) const { return axes[static_cast<std::size_t>(loop.axis)].size / loop.tile; }
  /// Does each round of the loop have its own elements of the tensor?
  bool tells_apart(const GroupLoop& loop, std::size_t l, int tensor) const;
  SlidingRounds slide(const GroupLoop& loop, std::size_t l) const;
  std::vector<GroupLoops> stacks(std::size_t link) const;
};

/// What is done to a tensor between two layers.
struct BetweenLayers {
  int read = 0;  ///< tensor of the second
  bool whole_rows = false, online = false;
  auto operator<=>(const BetweenLayers&) const = default;
};
/// How many layers each node is, and of those how many in turn read the same words of which operands.
struct CountedLayers {
  Count count = 1, sharing = 1;
  std::vector<TensorSet> same;  ///< by layer
  auto operator<=>(const CountedLayers&) const = default;
};
FusedChain fused_chain(std::vector<const Task*> layers, const std::vector<BetweenLayers>& between,
                       const CountedLayers& counted);

/// May a memory hold the tile of a link under these loops?
bool rule_allows(const FusionRule& rule, const FusedChain& chain, std::size_t link, const GroupLoops& loops);

}  // namespace pliant::audit
