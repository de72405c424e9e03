// SPDX-License-Identifier: Apache-2.0
// The designs of one hardware point, decided one after the other, the most flexible first: what it cannot do, less
// flexible ones cannot either.
#pragma once

#include <vector>

#include "dse/design/search_node.h"
#include "dse/sweep/design_space.h"

namespace pliant {

class PointDesigns {
 public:
  PointDesigns(const DistinctLayers& layers, DesignSpace& space);

  /// The designs of the node's single hardware point; those that break constraints are given back instead.
  std::vector<PointDesign> open(SearchNode& node);
  HardwareFacts facts(const PointDesign& one);
  /// Puts the design to be decided next in front: the smallest that can run all best mappings of one that allows more,
  /// because it beats whatever is larger; without such a design the most flexible one.
  void choose_next(std::vector<PointDesign>& designs) const;
  /// The next layers to ask about, the largest first: often the design is beaten before all are asked. Layers whose
  /// answer is known, because the design can run the best mapping of one that allows more, come last.
  std::vector<std::size_t> next_layers(PointDesign& one) const;
  /// Notes an answer, and what it proves for the designs of the point that allow less.
  static void note(PointDesign& one, std::size_t layer, const Answer& answer, std::vector<PointDesign>& designs);

 private:
  bool reaches(PointDesign& one, std::size_t layer) const;

  const DistinctLayers& layers_;
  DesignSpace& space_;
  std::int64_t inner_;  ///< designs of a hardware point
};

}  // namespace pliant
