// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/sweep_json.h"

#include "dse/answers/json_schema.h"

namespace pliant {

nlohmann::ordered_json outcome_json(const Sweep& sweep, const std::filesystem::path& dataset,
                                    const SweepOutcome& outcome) {
  const SweepProgress& p = outcome.progress;
  return {{"schema", kJsonSchema},
          {"sweep", sweep.name},
          {"dataset", dataset.string()},
          {"interrupted", outcome.interrupted},
          {"complete", outcome.dataset_complete},
          {"layers_done", p.done},
          {"layers_total", p.total},
          {"solved", p.solved},
          {"reused", p.reused},
          {"without_mapping", p.without_mapping},
          {"parts_done", p.parts_done},
          {"parts", p.parts},
          {"seconds", p.seconds},
          {"logging_cpu_seconds", outcome.logging_cpu_seconds}};
}

nlohmann::ordered_json status_json(const DatasetStatus& status) {
  const Manifest& m = status.manifest;
  return nlohmann::ordered_json{{"schema", kJsonSchema},
                                {"sweep", m.sweep_name},
                                {"parts", m.parts},
                                {"parts_done", status.parts_done},
                                {"parts_damaged", status.parts_damaged},
                                {"designs", m.designs},
                                {"design_rows", status.design_rows},
                                {"layer_rows", status.layer_rows},
                                {"layer_rows_expected", m.designs * m.layers},
                                {"tasks_kept", status.tasks_kept},
                                {"start", m.start},
                                {"end", m.end}};
}

nlohmann::ordered_json estimate_json(const SweepEstimate& e) {
  return nlohmann::ordered_json{{"schema", kJsonSchema},
                                {"designs_in_product", e.designs_raw},
                                {"designs", e.designs},
                                {"layers_per_design", e.layers},
                                {"tasks", e.tasks},
                                {"distinct_tasks", e.distinct_tasks},
                                {"known_tasks", e.known_tasks},
                                {"sampled_tasks", e.sampled},
                                {"seconds_per_task", e.seconds_per_task},
                                {"seconds", e.seconds},
                                {"seconds_low", e.seconds_low},
                                {"seconds_high", e.seconds_high},
                                {"share_of_core", e.share_of_core}};
}

}  // namespace pliant
