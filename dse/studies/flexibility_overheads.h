// SPDX-License-Identifier: Apache-2.0
// What flexibility costs beside Table 3: its parts at the area and energy that the table of the node has for a bit,
// networks that distribute operands, and what it takes to configure the design again between layers.
#pragma once

#include "dse/studies/study.h"

namespace pliant {

/// Area (um2, %) and energy (pJ a MAC) of the parts of each axis, every bit of a PE's parts switching at every MAC.
struct PartCosts {
  double area_percent = 0;  ///< of all four axes, without a network
  double pj_per_mac = 0;
  double most_pj_per_mac = 0;  ///< with the larger network
};
PartCosts parts_by_the_node(const StudyContext& context, StudyResult& result);

/// Configurations between layers, of seven networks on the reference design with full flexibility.
void reconfiguration_share(const StudyContext& context, StudyResult& result);

}  // namespace pliant
