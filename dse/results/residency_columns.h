// SPDX-License-Identifier: Apache-2.0
// What stays on chip, as columns of the table of designs.
#pragma once

#include <vector>

#include "dse/results/arrow_columns.h"

namespace pliant {

void residency_columns(RowColumns<DesignRow>& all, const std::vector<DesignRow>& rows);

}  // namespace pliant
