// SPDX-License-Identifier: Apache-2.0
// What rows say of a network that was mapped as a whole.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dse/results/rows.h"
#include "dse/sweep/design_space.h"

namespace pliant {

/// What a row says of the network's tensors; nullopt when it is not solved, or its layers are unrelated.
std::optional<DesignRow::Residency> residency_of(const DesignPoint& design, const Workload& workload,
                                                 const std::shared_ptr<const TaskResult>& network);

/// By row of the workload, in words: its tensors that stay on chip, "none" where none does. Of a network for which
/// residency_of gives something.
std::vector<std::string> staying_tensors(const Accelerator& accelerator, const Workload& workload,
                                         const TaskResult& network);

/// The run without names: what a network is asked by, beside its layers and its design.
std::string write_run(const Workload& workload);

}  // namespace pliant
