// SPDX-License-Identifier: Apache-2.0
// An answer as JSON (docs/serving.md).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "dse/serving/serve.h"

namespace pliant::serving {

nlohmann::ordered_json answer_json(const Request& request, const Served& served);
nlohmann::ordered_json memory_json(const MemoryNeed& need);

}  // namespace pliant::serving
