// SPDX-License-Identifier: Apache-2.0
#include "dse/design/design_rows.h"

#include "dse/results/columns.h"
#include "dse/sweep/network_rows.h"
#include "dse/sweep/result_limits.h"
#include "dse/sweep/serving_task.h"

namespace pliant {

DesignRows::DesignRows(const Sweep& sweep, const DistinctLayers& layers, const GoalBounds& goals)
    : sweep_(sweep), layers_(layers), alone_(sweep, DistinctLayers::Ask::kLayersAlone), goals_(goals) {
  for (const Workload& workload : sweep.workloads) {
    has_networks_ |= Sweep::asked_whole(workload);
    auto& own = names_.emplace_back();
    for (const Workload::Entry& entry : workload.layers) own.push_back(std::make_shared<const Layer>(entry.layer));
  }
}

OpenedDesign DesignRows::make(const std::shared_ptr<const DesignPoint>& design, const std::vector<PoolAnswer>& answers,
                              const std::vector<std::optional<DesignRow::Serving>>& served,
                              const Constraint::Lookup& lookup, TaskPool& pool) const {
  OpenedDesign opened;
  opened.design_id = design->key->design_id;
  opened.design = design;
  TaskResult invalid;
  invalid.status = TaskStatus::kInvalidDesign;
  invalid.reason = design->problem;
  const auto nothing = std::make_shared<const TaskResult>(std::move(invalid));
  const std::vector<PoolAnswer> of_layers = has_networks_ ? pool.answer(design, alone_) : answers;
  bool complete = true, within_limits = true;
  for (std::size_t w = 0; w < sweep_.workloads.size(); ++w) {
    const Workload& workload = sweep_.workloads[w];
    const std::size_t first = opened.layers.size();
    for (std::size_t l = 0; l < workload.layers.size(); ++l) {
      const PoolAnswer& answer = of_layers[alone_.workloads[w][l].layer];
      opened.layers.push_back({design->key, workload.name, static_cast<std::int32_t>(l), workload.layers[l].count,
                               names_[w][l], design->accelerator, answer.result ? answer.result : nothing, answer.key});
    }
    const auto network = Sweep::asked_whole(workload) ? answers[layers_.workloads[w].front().layer].result : nullptr;
    opened.rows.push_back(summarize(*design, workload, opened.layers.data() + first, workload.layers.size(), network));
    if (opened.rows.back().residency) {
      std::vector<std::string> words = staying_tensors(*design->accelerator, workload, *network);
      for (std::size_t l = 0; l < words.size(); ++l) opened.layers[first + l].on_chip = std::move(words[l]);
    }
    if (!served.empty()) take_serving(served[w], opened.rows.back());
    apply_limits(sweep_.result_limits, lookup, opened.rows.back());
    complete = complete && opened.rows.back().cost.has_value();
    within_limits = within_limits && opened.rows.back().status != kOverLimit;
  }
  if (!complete) return opened;
  opened.values = goals_.values(opened.rows);
  opened.within_limits = within_limits && !opened.values.empty();
  return opened;
}

}  // namespace pliant
