// SPDX-License-Identifier: Apache-2.0
// The searches that bound a box: which are worth asking on its ideal design, in which order, and what they prove.
#pragma once

#include <memory>
#include <vector>

#include "dse/design/found_designs.h"
#include "dse/design/search_node.h"

namespace pliant {

class BoxBounds {
 public:
  /// The sweep has goals.
  /// `guide`: searches are worth their time even where they close nothing, because the best box comes next.
  BoxBounds(const Sweep& sweep, const DistinctLayers& layers, const GoalBounds& goals, bool guide);

  /// A search of one layer on the ideal design of a box.
  struct Asked {
    std::size_t rule = 0, layer = 0, objective = 0;  ///< of kBoundObjectives
  };

  /// What needs no search, for a node that has an ideal design.
  void begin(SearchNode& node) const;
  /// The next searches, the largest layers first. Empty when all are done, or when mappings that are known to run on
  /// the ideal show that no search can close the box.
  std::vector<Asked> next(SearchNode& node, const FoundDesigns& found);
  /// The question; the design lives as long as the node's ideal.
  std::shared_ptr<const DesignPoint> design(const SearchNode& node, const Asked& asked) const;
  void note(SearchNode& node, const Asked& asked, std::shared_ptr<const TaskResult> result);
  /// A mapping that may run on other ideals as well.
  void remember(std::size_t rule, std::size_t layer, const std::shared_ptr<const TaskResult>& result);

 private:
  /// Tries a mapping on the node's ideal.
  void reach(SearchNode& node, std::size_t rule, std::size_t layer,
             const std::shared_ptr<const TaskResult>& result) const;
  const ReachedBounds& reached(SearchNode& node, std::size_t rule) const;
  bool may_close(SearchNode& node, const FoundDesigns& found) const;
  bool settle_without_search(SearchNode& node, const Asked& asked) const;
  bool worth_asking(const SearchNode& node, const Asked& asked) const;

  const Sweep& sweep_;
  const DistinctLayers& layers_;
  const GoalBounds& goals_;
  bool guide_;
  std::vector<std::vector<std::size_t>> stages_;  ///< of kBoundObjectives, one after the other
  /// Mappings that were best somewhere, the latest first, by rule and layer.
  std::vector<std::vector<std::vector<std::shared_ptr<const TaskResult>>>> latest_;
};

}  // namespace pliant
