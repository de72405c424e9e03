// SPDX-License-Identifier: Apache-2.0
// What must hold of an answer whatever it is: relations between several answers, which need no value known beforehand.
#pragma once

#include <string>
#include <vector>

#include "support/combination_cases.h"

namespace pliant::tests {

struct CheckedCase {
  std::vector<std::string> problems;  ///< with the command that shows it
  bool enumerated = false;            ///< the map-space was small enough to compare with all its mappings
};

/// Asks the question, then the questions that its answer must agree with.
CheckedCase check_case(const CombinationCase& one);

}  // namespace pliant::tests
