// SPDX-License-Identifier: Apache-2.0
// Inputs as JSON for scripts, schema 1: every key carries its unit.
#pragma once

#include <nlohmann/json.hpp>

#include "core/accelerator.h"
#include "core/layer.h"

namespace pliant {

nlohmann::ordered_json show_json(const Accelerator& accelerator);
nlohmann::ordered_json show_json(const Workload& workload);
nlohmann::ordered_json show_json(const Layer& layer);

}  // namespace pliant
