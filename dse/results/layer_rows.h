// SPDX-License-Identifier: Apache-2.0
// The rows of layers as a Parquet file with the schema of columns.h.
#pragma once

#include <string>
#include <vector>

#include "dse/results/rows.h"

namespace pliant {

/// The whole file; equal rows give equal bytes.
std::string layers_parquet(const Provenance& provenance, const std::vector<LayerRow>& rows);

}  // namespace pliant
