// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "core/accelerator.h"
#include "core/layer.h"
#include "core/mapping.h"
#include "dse/validation/vectors.h"

namespace pliant {

/// What a record prices, under the `timeloop` conventions.
struct TimeloopCase {
  Layer layer;
  Accelerator accelerator;
  Mapping mapping;
};
TimeloopCase read_timeloop_case(const nlohmann::json& record);

/// Compares one record of the Timeloop vectors with our model under the `timeloop` conventions.
void validate_timeloop_vector(const nlohmann::json& record, ValidationResult& result);

}  // namespace pliant
