// SPDX-License-Identifier: Apache-2.0
// A network whose layers may pass tiles to each other: which groups do, under which loops, what is held meanwhile, what
// each step of freedom saves, and the proof.
#pragma once

#include <vector>

#include "dse/answers/residency_answer.h"

namespace pliant {

/// The workload must have a graph. Of a search that was stopped nothing may be told.
NetworkAnswer fusion_answer(const Mapper& mapper, const Workload& workload, const std::vector<ReadTask>& tasks,
                            const NetworkGoal& goal, const SearchOptions& options, const ResidencyRequest& request);

}  // namespace pliant
