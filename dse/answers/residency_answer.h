// SPDX-License-Identifier: Apache-2.0
// A network whose tensors may stay on chip between its layers: which stay from when to when, what that saves, and the
// proof.
#pragma once

#include <vector>

#include "core/layer.h"
#include "dse/answers/network_answer.h"

namespace pliant {

/// How a network is mapped.
struct ResidencyRequest {
  bool stay = true;      ///< false: every tensor lives outside
  Count inferences = 1;  ///< weights may stay across so many
  bool ascii = false;
  bool tiles = false;  ///< layers may pass tiles on; tensors may stay whole as well
};

/// The workload must have a graph. Of a search that was stopped nothing may be told.
NetworkAnswer residency_answer(const Mapper& mapper, const Workload& workload, const std::vector<ReadTask>& tasks,
                               const NetworkGoal& goal, const SearchOptions& options, const ResidencyRequest& request);

}  // namespace pliant
