// SPDX-License-Identifier: Apache-2.0
// `pliant map --network` of a workload with a graph: which tensors stay on chip from when to when, what that saves, and
// the proof.
#pragma once

#include <iosfwd>
#include <vector>

#include "core/layer.h"
#include "dse/cli/arguments.h"
#include "dse/cli/task_options.h"
#include "dse/mappers/network.h"

namespace pliant {

int map_residency(const Arguments& arguments, const TaskWords& words, const Mapper& mapper, const Workload& workload,
                  const std::vector<ReadTask>& tasks, const NetworkGoal& goal, const SearchOptions& search,
                  std::ostream& out, std::ostream& err);

}  // namespace pliant
