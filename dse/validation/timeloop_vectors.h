// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "dse/validation/vectors.h"

namespace pliant {

/// Compares one record of the Timeloop vectors with our model under the `timeloop` conventions.
void validate_timeloop_vector(const nlohmann::json& record, ValidationResult& result);

}  // namespace pliant
