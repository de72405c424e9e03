// SPDX-License-Identifier: Apache-2.0
#include "dse/serving/answer_json.h"

#include <nlohmann/json.hpp>

namespace pliant::serving {

namespace {

template <class T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

nlohmann::ordered_json phase_json(const Request& request, const PhaseSpent& phase) {
  const double clock = *request.accelerator.clock_hz;
  nlohmann::ordered_json kinds = nlohmann::ordered_json::array();
  for (const KindSpent& one : phase.kinds)
    kinds.push_back({{"kind", one.kind},
                     {"count", one.count},
                     {"time_s", one.spent.cycles / clock},
                     {"energy_j", one.spent.energy_pj * 1e-12}});
  return {{"phase", phase.name},
          {"steps", phase.steps},
          {"time_s", phase.spent.cycles / clock},
          {"energy_j", phase.spent.energy_pj * 1e-12},
          {"gap", phase.gap(request.objective)},
          {"kinds", std::move(kinds)}};
}

}  // namespace

nlohmann::ordered_json memory_json(const MemoryNeed& need) {
  return {{"memory", need.memory},
          {"capacity_bytes", or_null(need.capacity_bytes)},
          {"weights_bytes", need.weights_bytes},
          {"cache_bytes", need.cache_bytes},
          {"cache_bytes_per_sequence", need.cache_bytes_per_sequence},
          {"activations_bytes", need.activations_bytes},
          {"fits", need.fits()},
          {"largest_batch", or_null(need.largest_batch)}};
}

nlohmann::ordered_json answer_json(const Request& request, const Served& served) {
  const double clock = *request.accelerator.clock_hz;
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (const StepAt& one : served.steps)
    steps.push_back({{"keys", one.keys},
                     {"tpot_s", one.spent.cycles / clock},
                     {"energy_j", one.spent.energy_pj * 1e-12},
                     {"gap", PhaseSpent{"", 1, one.spent, {}}.gap(request.objective)}});
  const Division& d = request.division;
  nlohmann::ordered_json phases = nlohmann::ordered_json::array({phase_json(request, served.prefill)});
  if (served.decode.steps > 0) phases.push_back(phase_json(request, served.decode));
  const bool energy = request.objective == Objective::kEnergy;
  return {{"model", request.model_name},
          {"accelerator", request.accelerator.name},
          {"objective", std::string(pliant::to_string(request.objective))},
          {"prompt", request.prompt},
          {"output", request.output},
          {"batch", request.batch},
          {"chips", d.chips()},
          {"division", {{"tp", d.tp}, {"pp", d.pp}, {"ep", d.ep}}},
          {"weight_bits", weight_bits(request)},
          {"kv_bits", cache_bits(request)},
          {"ttft_s", served.ttft_s},
          {"ttft_bound_s", or_null(energy ? std::nullopt : std::optional(served.ttft_bound_s))},
          {"tpot_s", or_null(served.tpot_s)},
          {"tpot_bound_s", or_null(energy ? std::nullopt : served.tpot_bound_s)},
          {"tokens_per_s", served.tokens_per_s},
          {"tokens_per_s_per_user", served.tokens_per_s_per_user},
          {"tokens_per_j", served.tokens_per_j},
          {"energy_j", served.energy_j},
          {"gap", served.gap},
          {"largest_batch", or_null(served.memory.largest_batch)},
          {"memory", memory_json(served.memory)},
          {"longest_part_s",
           served.longest_part_s > 0 ? nlohmann::ordered_json(served.longest_part_s) : nlohmann::ordered_json()},
          {"steps", std::move(steps)},
          {"phases", std::move(phases)},
          {"searches", served.searches},
          {"searches_a_layer", served.searches_a_layer},
          {"contexts_searched", served.points}};
}

}  // namespace pliant::serving
