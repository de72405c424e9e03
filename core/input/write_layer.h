// SPDX-License-Identifier: Apache-2.0
// Layers and workloads as YAML that reads back as the same.
#pragma once

#include <string>

#include "core/layer.h"

namespace pliant {

std::string write_workload(const Workload& workload);
std::string write_layer(const Layer& layer);

}  // namespace pliant
