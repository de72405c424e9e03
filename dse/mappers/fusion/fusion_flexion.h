// SPDX-License-Identifier: Apache-2.0
// How free a design is on the axis F: which share of the stacks of loops around tensors between layers it allows.
// docs/flexibility.md defines the sets.
#pragma once

#include <optional>

#include "core/accelerator.h"
#include "core/layer.h"

namespace pliant::fusion {

/// Sizes are sums over the tensors that could pass in tiles, flexions are means over them.
struct FusionFlexion {
  int tensors = 0;
  Count c = 0, a = 0;        ///< memories and orders of one or two dims: all of them, and those that the rules allow
  Count w = 0, a_and_w = 0;  ///< stacks of the network, and those of them that the rules allow and whose tile fits
  double h_f = 1, w_f = 1;
};

/// Nothing where no layers of the workload could pass tiles on.
std::optional<FusionFlexion> fusion_flexion(const Workload& workload, const Accelerator& accelerator);

}  // namespace pliant::fusion
