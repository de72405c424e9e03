// SPDX-License-Identifier: Apache-2.0
// What `pliant design --json` prints.
#pragma once

#include <nlohmann/json.hpp>

#include "dse/design/run_design.h"

namespace pliant {

nlohmann::ordered_json design_json(const Sweep& sweep, const DesignRunOptions& run, const DesignFrontier& found);

}  // namespace pliant
