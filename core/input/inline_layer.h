// SPDX-License-Identifier: Apache-2.0
// Layers written in place: `conv:M=64,C=3,...`.
#pragma once

#include <string_view>

#include "core/layer.h"

namespace pliant {

/// `conv:M=64,...`, `gemm:...`, `depthwise:...`; source is named in diagnostics ("--layer").
Layer parse_layer(std::string_view text, std::string_view source);
/// What --layer accepts: a layer's name in the workload (when given), a file, or a layer written in place.
Layer resolve_layer(std::string_view text, const Workload* workload);

}  // namespace pliant
