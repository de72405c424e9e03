// SPDX-License-Identifier: Apache-2.0
// One question of a sweep, the best mapping of a layer on a design: its name by content, and its answer.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "costmodel/report.h"
#include "dse/results/rows.h"
#include "dse/results/task_store.h"
#include "dse/sweep/design_space.h"

namespace pliant {

/// Names tasks by everything that can change the answer and nothing else: neither names nor areas count. Equal keys are
/// equal questions, in one sweep and across sweeps.
class TaskNamer {
 public:
  /// The sweep lives as long as the namer.
  explicit TaskNamer(const Sweep& sweep);
  /// The layer lives as long as the namer.
  TaskKey key(const DesignPoint& design, const Layer& layer);
  /// Of a workload that is asked as a whole.
  TaskKey key(const DesignPoint& design, const Workload& workload);
  /// Of any task, answered within a gap.
  TaskKey key(const Task& task, double gap) const;

 private:
  const std::string& accelerator_text(const DesignPoint& design, const Layer& layer);
  const std::string& layer_text(const Layer& layer);

  const Sweep& sweep_;
  std::string mapper_;
  const Accelerator* last_ = nullptr;
  std::shared_ptr<const Accelerator> held_;  ///< keeps `last_` from being another one at the same place
  std::map<Operation, std::string> accelerator_text_;
  std::map<const Layer*, std::string> layer_text_;
};

/// How the sweep's mapper searches.
SearchOptions search_options(const Sweep& sweep, int threads, const std::stop_token& stop,
                             const Clock& clock = real_clock());

/// Where the energy of a mapping goes: memories, networks with energy, and the compute units; leakage with each.
std::vector<TaskResult::LevelEnergy> energy_of_levels(const CostReport& report, const Accelerator& accelerator);

/// `threads` as in SearchOptions.
TaskResult solve_task(const Mapper& mapper, const Sweep& sweep, const DesignPoint& design, const Layer& layer,
                      int threads, const std::stop_token& stop, const Clock& clock = real_clock());

/// H-F and W-F of a workload on a design; nullopt when the design is invalid.
std::optional<DesignRow::Flexion> design_flexion(const Workload& workload, const DesignPoint& design);

/// Sums of a workload's rows; of a network whose tensors may stay on chip, its own sums.
DesignRow summarize(const DesignPoint& design, const Workload& workload, const LayerRow* rows, std::size_t count,
                    const std::shared_ptr<const TaskResult>& network = nullptr);

}  // namespace pliant
