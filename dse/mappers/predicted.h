// SPDX-License-Identifier: Apache-2.0
// The best mapping by what is predicted of it, proven with the searches there are: least runtime, and least energy
// within so many cycles.
#pragma once

#include "costmodel/prediction.h"
#include "dse/mappers/mapper.h"

namespace pliant {

/// Where no gap is asked for: closer than figures of predictions are known.
inline constexpr double kPredictionGap = 0.01;

struct PredictedOptimum {
  SearchResult result;  ///< of the achievable accelerator; value and lower bound are the objective's of the prediction
  Predicted predicted;
  int searches = 0;
};

/// The least predicted value of the task's objective over all mappings. Whatever that is, it grows with energy E and
/// cycles T, so every mapping of T in [a, b] has at least the value of (least E within b, a): intervals of T are cut
/// until the best mapping found is not above any of these, up to SearchOptions::gap. The task's most_cycles is ignored.
PredictedOptimum search_predicted(const Mapper& mapper, const Task& task, const PredictionFigures& prediction,
                                  const SearchOptions& options);

}  // namespace pliant
