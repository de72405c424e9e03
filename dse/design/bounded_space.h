// SPDX-License-Identifier: Apache-2.0
// What the networks of a sweep cost at least on the designs of a box, goal by goal.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "dse/design/ideal_design.h"
#include "dse/design/network_bound.h"
#include "dse/results/pareto.h"
#include "dse/sweep/sweep_task.h"

namespace pliant {

/// The different layers of a sweep: equal ones, of one network or of several, are one question.
struct DistinctLayers {
  explicit DistinctLayers(const Sweep& sweep);
  std::vector<std::shared_ptr<const Layer>> layers;
  struct Use {
    std::size_t layer = 0;  ///< in `layers`
    Count count = 1;
  };
  std::vector<std::vector<Use>> workloads;  ///< by workload and layer of it
};

/// Bounds of every distinct layer.
using LayerBounds = std::vector<LayerBound>;

/// Turns bounds of layers into bounds of goals.
class GoalBounds {
 public:
  GoalBounds(const DesignGoals& goals, const DistinctLayers& layers) : goals_(goals), layers_(layers) {}

  /// By goal, of a design of at least this area.
  Point least(double area_um2, const LayerBounds& bounds) const;
  /// The same if the products of the goals were those of the mappings found on the ideal: nothing sharper is possible.
  Point hoped(double area_um2, const LayerBounds& bounds, const LayerBounds& found) const;
  /// A limit that none of these designs keeps.
  bool beyond_limits(double area_um2, const LayerBounds& bounds) const;
  /// From the rows of a mapped design, one for each workload, all with costs.
  Point values(const std::vector<DesignRow>& rows) const;
  bool within_limits(const std::vector<DesignRow>& rows) const;

 private:
  using ByWorkload = std::vector<NetworkBound>;
  ByWorkload networks(const LayerBounds& bounds) const;
  Point combine(double area_um2, const ByWorkload& networks) const;

  const DesignGoals& goals_;
  const DistinctLayers& layers_;
};

/// What needs no search: every multiply-accumulate takes its energy and its share of the units' time.
LayerBound compute_bound(const Layer& layer, const Accelerator& ideal);

/// What a search proves about every mapping of its question.
LayerBound proven_bound(Objective objective, const TaskResult& result);

}  // namespace pliant
