// SPDX-License-Identifier: Apache-2.0
// `pliant verify` of what `map --network --json` wrote.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "dse/answers/task_options.h"
#include "dse/mappers/claim.h"

namespace pliant {

/// One claim and what became of it.
struct VerifiedClaim {
  std::string layer;
  std::vector<std::string> wrong;  ///< every difference found
  std::string proof;               ///< how the claim was proven again
  double value = 0;
};

/// Every mapping is judged and priced again, the sums are summed again, and the bounds of the whole are proven by
/// another search of the mapper `exact`. `file` is named in what is wrong with the JSON itself.
std::vector<VerifiedClaim> verify_network(const Library& library, const std::string& file, const TaskWords& words,
                                          const std::vector<ReadTask>& tasks, const nlohmann::json& network,
                                          const ProofOptions& proof);

}  // namespace pliant
