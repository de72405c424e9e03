// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/design_json.h"

#include "dse/answers/audit_design.h"
#include "dse/answers/json_schema.h"

namespace pliant {

using nlohmann::ordered_json;

ordered_json design_json(const Sweep& sweep, const DesignRunOptions& run, const DesignFrontier& found) {
  const DesignProgress& p = found.progress;
  ordered_json all = {{"schema", kJsonSchema},
                      {"sweep", sweep.name},
                      {"dataset", run.dataset.string()},
                      {"interrupted", found.interrupted},
                      {"certified", !found.interrupted && run.search.shard.count == 1},
                      {"gap", run.search.gap},
                      {"proven_gap", p.gap ? ordered_json(*p.gap) : ordered_json()},
                      {"designs", p.designs},
                      {"decided", p.decided},
                      {"opened", p.opened},
                      {"boxes", p.boxes},
                      {"searches", p.solved},
                      {"reused", p.reused},
                      {"seconds", p.seconds},
                      {"search_seconds", found.search_seconds}};
  if (found.audit) all["audit"] = design_audit_json(*found.audit, false);
  all["goals"] = ordered_json::array();
  for (const DesignGoals::Goal& goal : sweep.goals->minimize) all["goals"].push_back(goal_name(sweep, goal));
  all["frontier"] = ordered_json::array();
  for (const std::size_t k : found.frontier) {
    const OpenedDesign& opened = found.opened[k];
    const DesignKey& key = *opened.design->key;
    ordered_json item = {{"design_id", opened.design_id}};
    for (std::size_t c = 0; c < sweep.columns.size(); ++c)
      std::visit([&](const auto& value) { item[sweep.columns[c].column] = value; }, key.axes[c]);
    item["flexibility"] = key.flexibility;
    item["factorization"] = key.factorization;
    item["objective"] = key.objective;
    item["values"] = ordered_json::array();
    for (std::size_t g = 0; g < opened.values.size(); ++g)
      item["values"].push_back(column_value(sweep.goals->minimize[g].measure, opened.values[g]));
    all["frontier"].push_back(std::move(item));
  }
  return all;
}

}  // namespace pliant
