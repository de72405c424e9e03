// SPDX-License-Identifier: Apache-2.0
// From what is known of layers to what a design search minimises.
#pragma once

#include <vector>

#include "dse/audit/design_certificate.h"
#include "dse/audit/sum_of_regions.h"

namespace pliant::audit {

class GoalSums {
 public:
  explicit GoalSums(const DesignTask& task) : task_(task) {}

  /// By layer, what needs no proof: units at work, and what their MACs take.
  std::vector<Region> floors(const Accelerator& accelerator) const;
  /// By goal: what designs have at least whose layers lie in these regions. `enough`: higher bounds are of no use.
  std::vector<double> goals(const Accelerator& accelerator, double area, const std::vector<Region>& regions,
                            const std::vector<double>& enough) const;

 private:
  double mixed(const std::vector<double>& values) const;

  const DesignTask& task_;
};

/// No mapping of the layer has a lower value of the objective.
void raise(Region& region, Objective objective, double least);

}  // namespace pliant::audit
