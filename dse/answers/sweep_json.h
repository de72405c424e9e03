// SPDX-License-Identifier: Apache-2.0
// What a sweep did, how far a dataset is, and how much work a sweep would be, as JSON.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "dse/sweep/run_sweep.h"

namespace pliant {

nlohmann::ordered_json outcome_json(const Sweep& sweep, const std::filesystem::path& dataset,
                                    const SweepOutcome& outcome);
nlohmann::ordered_json status_json(const DatasetStatus& status);
nlohmann::ordered_json estimate_json(const SweepEstimate& e);

}  // namespace pliant
