// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/render_predicted.h"

#include <fmt/format.h>

#include "core/input/prediction_block.h"
#include "dse/answers/render_cost.h"
#include "dse/answers/render_physical.h"

namespace pliant {
namespace {

using nlohmann::ordered_json;

constexpr double kPicojoules = 1e12;

std::string proof_of(const SearchResult& result) {
  if (result.certified) return "the least of all mappings, proven";
  return fmt::format("proven within {:.2g} % of the least", 100 * result.gap());
}

}  // namespace

PredictionFigures read_prediction_of(const Library& library, const TaskWords& words, const Accelerator& accelerator) {
  std::vector<Setting> settings;
  for (const std::string& text : words.settings) settings.push_back(parse_setting(text));
  const auto prediction = load_prediction(library, words.accelerator, settings, accelerator);
  if (!prediction)
    throw bad_option(words.command, "--predict", fmt::format("{} has no `prediction` block", accelerator.name),
                     "an accelerator with one, or --set prediction.overhead=3us and the like");
  return *prediction;
}

std::string predicted_text(const SearchedLayer& searched, const PredictedOptimum& best) {
  const double hz = *searched.task->accelerator.clock_hz;
  std::string text;
  if (searched.task->objective == Objective::kRuntime)
    text = fmt::format("bound: no kernel is faster than {} (proven)\n",
                       readable_latency(searched.result.lower_bound / hz));
  if (!best.result.mapping) return text + "prediction: none found\n";
  return text + fmt::format("prediction: a good kernel takes {} and {}{}; {}\n",
                            readable_latency(best.predicted.seconds),
                            readable_energy(best.predicted.joules * kPicojoules),
                            best.predicted.throttled ? ", slowed down by the power limit" : "", proof_of(best.result));
}

ordered_json predicted_json(const SearchedLayer& searched, const PredictedOptimum& best) {
  ordered_json json;
  const double hz = *searched.task->accelerator.clock_hz;
  if (searched.task->objective == Objective::kRuntime) json["bound_s"] = searched.result.lower_bound / hz;
  if (!best.result.mapping) return json;
  json["latency_s"] = best.predicted.seconds;
  json["energy_j"] = best.predicted.joules;
  json["throttled"] = best.predicted.throttled;
  json["value"] = best.result.value;
  json["lower_bound"] = best.result.lower_bound;
  json["gap"] = best.result.gap();
  json["certified"] = best.result.certified;
  json["searches"] = best.searches;
  return json;
}

ordered_json predicted_sums_json(const std::vector<SearchedLayer>& layers, const std::vector<PredictedOptimum>& best) {
  double seconds = 0, joules = 0;
  bool whole = true;
  for (std::size_t i = 0; i < best.size(); ++i) {
    whole &= best[i].result.mapping.has_value();
    seconds += static_cast<double>(layers[i].count) * best[i].predicted.seconds;
    joules += static_cast<double>(layers[i].count) * best[i].predicted.joules;
  }
  if (!whole || best.size() != layers.size()) return nullptr;
  return {{"latency_s", seconds}, {"energy_j", joules}};
}

std::string predicted_sums_text(const std::vector<SearchedLayer>& layers, const std::vector<PredictedOptimum>& best) {
  const ordered_json sums = predicted_sums_json(layers, best);
  if (sums.is_null()) return "";
  return fmt::format("prediction: good kernels take {} and {} together, one after the other\n",
                     readable_latency(sums["latency_s"].get<double>()),
                     readable_energy(sums["energy_j"].get<double>() * kPicojoules));
}

}  // namespace pliant
