// SPDX-License-Identifier: Apache-2.0
// The searches that bound a box: which are worth asking on its ideal design, in which order, and what they prove.
#pragma once

#include <memory>
#include <vector>

#include "dse/design/found_designs.h"
#include "dse/design/known_mappings.h"
#include "dse/design/proven_bounds.h"
#include "dse/design/search_node.h"
#include "dse/design/whole_lines.h"

namespace pliant {

class BoxBounds {
 public:
  /// The sweep has goals.
  /// `guide`: searches are worth their time even where they close nothing, because the best box comes next.
  /// `gap`: of the search. `proven`: keeps what is proven; may be null.
  BoxBounds(const Sweep& sweep, const DistinctLayers& layers, const GoalBounds& goals, KnownMappings& mappings,
            bool guide, double gap, ProvenBounds* proven);

  /// What goals and limits need of a workload that is asked as a whole.
  const WholeNeeds& needs() const { return needs_; }
  /// Close enough for lines below such a workload.
  double line_gap() const { return line_gap_; }

  /// A search of one layer on the ideal design of a box.
  struct Asked {
    std::size_t rule = 0, layer = 0, objective = 0;  ///< of kBoundObjectives
    BoundSearch bound;
  };

  /// What needs no search, for a node that has an ideal design.
  void begin(SearchNode& node) const;
  /// The mapper's floors, which need no search; true when bounds have risen.
  bool raise_to_floors(SearchNode& node) const;
  /// The same where they may close the box.
  bool raise_to_floors(SearchNode& node, const FoundDesigns& found) const {
    return (!node.box.is_point() || guide_) && may_close(node, found) && raise_to_floors(node);
  }
  /// The next searches, first those that may raise the bounds most, each as sharp as it takes to close the box. Empty
  /// when all are done, or when mappings that are known to run on the ideal show that no search can close the box.
  std::vector<Asked> next(SearchNode& node, const FoundDesigns& found) const;
  /// The question; the design lives as long as the node's ideal.
  std::shared_ptr<const DesignPoint> design(const SearchNode& node, const Asked& asked) const;
  void note(SearchNode& node, const Asked& asked, std::shared_ptr<const TaskResult> result) const;

 private:
  using Stage = std::vector<std::size_t>;  ///< of kBoundObjectives
  const ReachedBounds& reached(SearchNode& node, std::size_t rule) const;
  bool may_close(SearchNode& node, const FoundDesigns& found) const;
  bool worth_asking(const SearchNode& node, std::size_t rule, std::size_t layer, std::size_t objective) const;
  double gap_for(SearchNode& node, const FoundDesigns& found, const Stage& stage) const;
  std::vector<Asked> of_stage(SearchNode& node, const Stage& stage, double gap) const;
  std::vector<Asked> of_wholes(SearchNode& node) const;
  void keep_floor(const SearchNode& node, std::size_t rule, std::size_t layer, LayerBound& floor) const;

  const Sweep& sweep_;
  const DistinctLayers& layers_;
  const GoalBounds& goals_;
  KnownMappings& mappings_;
  bool guide_;
  ProvenBounds* proven_;
  WholeNeeds needs_;
  double line_gap_;
  std::vector<Stage> stages_;  ///< one after the other
};

}  // namespace pliant
