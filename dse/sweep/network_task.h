// SPDX-License-Identifier: Apache-2.0
// One question of a sweep that lets tensors stay on chip: the best mappings of a network on a design together with
// where its tensors live. docs/networks.md has the model and the proof.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>

#include "core/clock.h"
#include "dse/results/rows.h"
#include "dse/sweep/design_space.h"

namespace pliant {

/// The workload has a graph. `threads` as in SearchOptions. Without proof after a stop.
TaskResult solve_network(const Mapper& mapper, const Sweep& sweep, const DesignPoint& design, const Workload& workload,
                         int threads, const std::stop_token& stop, const Clock& clock = real_clock());

/// What a row says of the network's tensors; nullopt when the network is not solved.
std::optional<DesignRow::Residency> residency_of(const DesignPoint& design, const Workload& workload,
                                                 const std::shared_ptr<const TaskResult>& network);

/// The run without names: what a network is asked by, beside its layers and its design.
std::string write_run(const Workload& workload);

}  // namespace pliant
