// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include <nlohmann/json.hpp>

#include "core/input/load.h"
#include "dse/validation/vectors.h"

namespace pliant {

/// Compares the vectors of the FactorFlow/QuickFlow model with ours under the `quickflow` conventions. They name
/// accelerators and kernels; both are looked up among the shipped configurations. Throws InputError when a record does
/// not fit them.
void validate_quickflow_vectors(const nlohmann::json& file, const Library& library, ValidationResult& result);

}  // namespace pliant
