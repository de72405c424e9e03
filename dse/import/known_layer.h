// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/layer.h"

namespace pliant {

/// The GEMM or convolution that an einsum of two operands is, whatever its dims are called: every dim is told by the
/// tensors that it indexes. Several dims of one kind become one (a GEMM over b, m and k has B*M rows). Nothing when it
/// is neither, or its sizes are too large.
std::optional<Layer> known_layer(const Layer& einsum);

}  // namespace pliant
