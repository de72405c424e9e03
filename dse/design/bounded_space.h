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

/// The different layers of a sweep: equal ones, of one network or of several, are one question. Where tensors may stay
/// on chip a whole network is one, and stands here as a single layer with all its work.
struct DistinctLayers {
  enum class Ask { kAsTheSweep, kLayersAlone };
  explicit DistinctLayers(const Sweep& sweep, Ask ask = Ask::kAsTheSweep);
  std::vector<std::shared_ptr<const Layer>> layers;
  std::vector<const Workload*> networks;  ///< by layer: the network it stands for, or null
  struct Use {
    std::size_t layer = 0;  ///< in `layers`
    Count count = 1;
  };
  std::vector<std::vector<Use>> workloads;  ///< by workload and layer of it
  /// Of a layer that stands for a whole workload, from those of all workloads; infinity without any.
  double deadline(std::size_t layer, const std::vector<double>& deadlines) const;
  std::vector<std::size_t> by_work;  ///< of `layers`, those with the most MACs first

  /// By layer: by how large a share a network's bound would rise, at most, with the second values instead of the first.
  std::vector<double> gains(const std::vector<double>& from, const std::vector<double>& to) const;
};

/// Bounds of every distinct layer.
using LayerBounds = std::vector<LayerBound>;

/// What holds for every design of a box whatever it runs.
struct HardwareFacts {
  double least_area_um2 = 0;
  std::optional<double> clock_hz;
  double least_leak_pj_per_cycle = 0;
  Constraint::Ranges numbers;                      ///< what a limit may name besides results; may be null
  const std::vector<double>* deadlines = nullptr;  ///< by workload: no design that keeps the limits takes more cycles
  const ServingBounds* serving = nullptr;          ///< by workload; may be null or empty
};
HardwareFacts facts_of(const IdealDesign& ideal);

/// Turns bounds of layers into bounds of goals.
class GoalBounds {
 public:
  /// The sweep has goals.
  GoalBounds(const Sweep& sweep, const DistinctLayers& layers);

  /// By goal.
  Point least(const HardwareFacts& facts, const LayerBounds& bounds) const;
  /// The same if the products of the goals were those of the mappings found on the ideal: nothing sharper is possible.
  Point hoped(const HardwareFacts& facts, const LayerBounds& bounds, const LayerBounds& found) const;
  /// By goal: bounds of layers do not change it.
  const std::vector<bool>& fixed() const { return fixed_; }
  /// There is a limit that none of these designs keeps.
  bool beyond_limits(const HardwareFacts& facts, const LayerBounds& bounds) const;
  /// From the rows of a mapped design, one for each workload; empty when one of them has no such value.
  Point values(const std::vector<DesignRow>& rows) const;

 private:
  using ByWorkload = std::vector<NetworkBound>;
  ByWorkload networks(const HardwareFacts& facts, const LayerBounds& bounds) const;
  Point combine(const HardwareFacts& facts, const ByWorkload& networks) const;
  std::optional<Constraint::Interval> result_range(std::string_view name, const HardwareFacts& facts,
                                                   std::size_t workload, const NetworkBound& network) const;

  const Sweep& sweep_;
  const DesignGoals& goals_;
  const DistinctLayers& layers_;
  std::vector<double> macs_;  ///< by workload
  std::vector<bool> fixed_;   ///< by goal
};

/// What needs no search: every multiply-accumulate takes its energy and its share of the units' time.
LayerBound compute_bound(const Layer& layer, const Accelerator& ideal);

/// What a search proves about every mapping of its question; within a deadline, about those that keep it. `number`: as
/// LayerBound::rests_on.
LayerBound proven_bound(Objective objective, const TaskResult& result, std::int32_t number = -1);

}  // namespace pliant
