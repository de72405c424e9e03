// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/serving_task.h"

#include <fmt/format.h>

#include "dse/serving/serve.h"
#include "dse/sweep/result_limits.h"

namespace pliant {

serving::Request served_request(const serving::Request& ask, const DesignPoint& design, const std::stop_token& stop) {
  serving::Request request = ask;
  request.accelerator = *design.accelerator;
  request.factorization = design.factorization;
  request.objective = design.objective == Objective::kEnergy ? Objective::kEnergy : Objective::kRuntime;
  request.search.gap = request.gap / 4;  // as `pliant serve`
  request.search.threads = kThreadsOfCaller;
  request.search.stop = stop;
  return request;
}

std::optional<DesignRow::Serving> solve_serving(const Sweep& sweep, const DesignPoint& design, const Workload& workload,
                                                const std::stop_token& stop) {
  const auto asked = sweep.served.find(workload.name);
  if (asked == sweep.served.end() || !design.accelerator || stop.stop_requested()) return std::nullopt;
  const serving::Request request = served_request(asked->second, design, stop);
  DesignRow::Serving figures;
  try {
    serving::check_request(request, "serve");
  } catch (const InputError& error) {
    figures.problem = fmt::format("cannot be served: {}", error.diagnostics().front().what);
    return figures;
  }
  const serving::MemoryNeed need = serving::memory_need(request);
  if (need.largest_batch) figures.largest_batch = *need.largest_batch;
  if (!need.fits()) {
    figures.problem = fmt::format("does not fit into {}: {:.4g} GB of {:.4g} GB, at most {} sequence{}", need.memory,
                                  need.all_bytes() * 1e-9, *need.capacity_bytes * 1e-9, *need.largest_batch,
                                  *need.largest_batch == 1 ? "" : "s");
    return figures;
  }
  try {
    const serving::Served served = serving::serve(request);
    figures.cost = {served.ttft_s, served.tpot_s, served.tokens_per_s, served.tokens_per_j, served.gap};
  } catch (const serving::NoMapping& none) {
    figures.problem = fmt::format("{}: no mapping while it is served", none.layer);
  }
  if (stop.stop_requested()) return std::nullopt;
  return figures;
}

std::vector<std::optional<DesignRow::Serving>> solve_all_serving(const Sweep& sweep, const DesignPoint& design,
                                                                 const std::stop_token& stop) {
  std::vector<std::optional<DesignRow::Serving>> all;
  for (const Workload& workload : sweep.workloads) all.push_back(solve_serving(sweep, design, workload, stop));
  return all;
}

void take_serving(const std::optional<DesignRow::Serving>& serving, DesignRow& row) {
  if (!serving) return;
  row.serving = serving;
  if (serving->cost || row.status != to_string(TaskStatus::kSolved)) return;
  row.status = kOverLimit;
  row.reason = serving->problem;
}

std::array<std::pair<const char*, std::optional<double>>, 6> serving_values(
    const std::optional<DesignRow::Serving>& serving) {
  const auto cost = serving ? serving->cost : std::nullopt;
  const auto of = [&](double DesignRow::Serving::Cost::*member) {
    return cost ? std::optional(*cost.*member) : std::nullopt;
  };
  using Cost = DesignRow::Serving::Cost;
  std::optional<double> largest;
  if (serving && serving->largest_batch) largest = static_cast<double>(*serving->largest_batch);
  return {{{"ttft_s", of(&Cost::ttft_s)},
           {"tpot_s", cost ? cost->tpot_s : std::nullopt},
           {"served_tokens_per_s", of(&Cost::tokens_per_s)},
           {"tokens_per_j", of(&Cost::tokens_per_j)},
           {"serving_gap", of(&Cost::gap)},
           {"largest_batch", largest}}};
}

}  // namespace pliant
