// SPDX-License-Identifier: Apache-2.0
// The steps of a network's run as a table, of whatever search.
#pragma once

#include <string>
#include <vector>

#include "core/layer.h"

namespace pliant {

struct StepLine {
  std::vector<std::string> cells;  ///< its node, and what else is told of it in words
  Count times = 1;
  double energy_pj = 0, cycles = 0;
};

/// Steps that say the same (rounds of a block, say) are one line. `titles` are those of the cells, as TextTable has
/// them.
std::string steps_table(const std::vector<std::string>& titles, const std::vector<StepLine>& steps);

}  // namespace pliant
