// SPDX-License-Identifier: Apache-2.0
// The designs of one hardware point, decided one after the other, the most flexible first: what it cannot do, less
// flexible ones cannot either.
#pragma once

#include <vector>

#include "dse/design/found_designs.h"
#include "dse/design/proven_bounds.h"
#include "dse/design/search_node.h"
#include "dse/design/whole_lines.h"
#include "dse/sweep/design_space.h"

namespace pliant {

class PointDesigns {
 public:
  /// `needs` and `line_gap` are about workloads that are asked as a whole (BoxBounds).
  /// `proven`: keeps what is proven; may be null.
  PointDesigns(const DistinctLayers& layers, const GoalBounds& goals, KnownMappings& mappings, DesignSpace& space,
               const WholeNeeds& needs, double line_gap, ProvenBounds* proven);

  /// The designs of the node's single hardware point; those that break constraints are given back instead.
  std::vector<PointDesign> open(SearchNode& node);
  HardwareFacts facts(const PointDesign& one);
  /// Puts the design to be decided next in front: the smallest that can run all best mappings of one that allows more,
  /// because it beats whatever is larger; without such a design the most flexible one.
  void choose_next(std::vector<PointDesign>& designs) const;
  /// Fills in `searches`. Where mappings known to run say that the design can be beaten, bounds as sharp as that takes;
  /// where they say that it cannot, all its best mappings; where no mapping is known, a few.
  void plan(PointDesign& one, const FoundDesigns& found);
  /// Notes the answer of a search, and what it proves for the designs of the point that allow less.
  void note(PointDesign& one, const PointDesign::Search& search, const PoolAnswer& answer,
            std::vector<PointDesign>& designs);

 private:
  bool runs(PointDesign& one, std::size_t layer) const;
  const ReachedBounds& reached(PointDesign& one) const;
  bool plan_lines(PointDesign& one, const FoundDesigns& found);
  bool plan_bounds(PointDesign& one, std::size_t measure, const FoundDesigns& found);
  void note_whole(PointDesign& one, const PointDesign::Search& search, const PoolAnswer& answer,
                  std::vector<PointDesign>& designs);
  bool will_be_opened(PointDesign& one, const FoundDesigns& found);
  void plan_few(PointDesign& one);
  double& raised(const PointDesign& one, std::size_t layer);

  const DistinctLayers& layers_;
  const GoalBounds& goals_;
  KnownMappings& mappings_;
  DesignSpace& space_;
  WholeNeeds needs_;
  double line_gap_;
  ProvenBounds* proven_;
  std::int64_t inner_;  ///< designs of a hardware point
  /// By design of a point and layer: by which factor its last answer raised the bound, elsewhere.
  std::vector<std::vector<double>> raised_;
};

}  // namespace pliant
