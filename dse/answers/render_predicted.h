// SPDX-License-Identifier: Apache-2.0
// What is predicted of a layer, beside the bound that is proven for it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/prediction.h"
#include "dse/answers/render_search.h"
#include "dse/mappers/predicted.h"

namespace pliant {

/// The prediction of --accelerator; InputError when its file has none.
PredictionFigures read_prediction_of(const Library& library, const TaskWords& words, const Accelerator& accelerator);

/// What no kernel beats, and what a good one takes: two lines.
std::string predicted_text(const SearchedLayer& searched, const PredictedOptimum& best);

/// latency_s, energy_j, throttled, lower_bound_s, certified, searches; `mapping` where it is asked for.
nlohmann::ordered_json predicted_json(const SearchedLayer& searched, const PredictedOptimum& best);

/// The sums over layers, as often as they occur.
std::string predicted_sums_text(const std::vector<SearchedLayer>& layers, const std::vector<PredictedOptimum>& best);
nlohmann::ordered_json predicted_sums_json(const std::vector<SearchedLayer>& layers,
                                           const std::vector<PredictedOptimum>& best);

}  // namespace pliant
