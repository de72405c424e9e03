// SPDX-License-Identifier: Apache-2.0
// What an axis is worth where power is what a chip has, instead of area: designs of the isolation study, slowed down
// until they draw no more than they may.
#pragma once

#include <map>
#include <string>

#include "dse/studies/isolation_costs.h"

namespace pliant {

/// The least energy of MnasNet by class, whatever the runtime: under the bandwidth of the study, proven layer by layer.
std::map<std::string, double> least_energies(const StudyContext& context, const SweepData& asked);

/// Runtimes beside InFlex's under budgets of average power, in multiples of InFlex's. A slower clock changes no energy
/// of an operation, so a design takes its own cycles or its energy over the budget, whichever is longer. With the
/// fastest mappings that is the most it needs; with the least energy of all mappings, the least.
void at_equal_power(const IsolationCosts& costs, const std::map<std::string, double>& least, StudyResult& result);

}  // namespace pliant
