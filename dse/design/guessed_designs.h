// SPDX-License-Identifier: Apache-2.0
// Designs that one would guess without a search: what they have against the frontier is what guessing costs.
#pragma once

#include <string>
#include <vector>

#include "dse/design/design_search.h"

namespace pliant {

struct GuessedDesign {
  std::string guess;  ///< "middle sizes, FullFlex-1111"
  std::int64_t design_id = 0;
  Point values;  ///< columns, by goal
};

/// The least, the middle and the most of every size, each with the most and the least flexible class; mapped, without
/// those that constraints, limits or layers rule out. Empty after a stop.
std::vector<GuessedDesign> guess_designs(const Library& library, const Sweep& sweep, const DesignSearchOptions& options,
                                         TaskStore* store);

/// As a line of JSON, for the dataset: [{"guess", "design", "values"}].
std::string guesses_text(const std::vector<GuessedDesign>& guesses);

}  // namespace pliant
