// SPDX-License-Identifier: Apache-2.0
// The rows of a design that was mapped, as a sweep writes them.
#pragma once

#include <memory>
#include <vector>

#include "dse/design/bounded_space.h"
#include "dse/design/task_pool.h"

namespace pliant {

/// A design that was mapped: all its layers.
struct OpenedDesign {
  std::int64_t design_id = 0;
  std::shared_ptr<const DesignPoint> design;
  std::vector<LayerRow> layers;  ///< of all workloads
  std::vector<DesignRow> rows;   ///< by workload
  Point values;                  ///< by goal; empty when a layer has no mapping
  bool within_limits = false;
};

class DesignRows {
 public:
  DesignRows(const Sweep& sweep, const DistinctLayers& layers, const GoalBounds& goals);
  /// `lookup` gives what limits may name besides results. From an answer for each distinct layer; they have none when
  /// the design contradicts itself. The layers of networks that were asked as a whole are asked here.
  /// `served`: by workload, empty where none is.
  OpenedDesign make(const std::shared_ptr<const DesignPoint>& design, const std::vector<PoolAnswer>& answers,
                    const std::vector<std::optional<DesignRow::Serving>>& served, const Constraint::Lookup& lookup,
                    TaskPool& pool) const;

 private:
  const Sweep& sweep_;
  const DistinctLayers& layers_;
  DistinctLayers alone_;  ///< what the rows of layers are about
  const GoalBounds& goals_;
  bool has_networks_ = false;
  std::vector<std::vector<std::shared_ptr<const Layer>>> names_;  ///< by workload: layers as it names them
};

}  // namespace pliant
