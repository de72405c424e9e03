// SPDX-License-Identifier: Apache-2.0
// Mappings as YAML that reads back as the same.
#pragma once

#include <string>

#include "core/accelerator.h"
#include "core/layer.h"
#include "core/mapping.h"

namespace pliant {

std::string write_mapping(const Layer& layer, const Accelerator& accelerator, const Mapping& mapping,
                          Factorization factorization);

}  // namespace pliant
