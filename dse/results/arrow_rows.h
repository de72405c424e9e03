// SPDX-License-Identifier: Apache-2.0
// The rows of designs as an Arrow table with the schema of columns.h.
#pragma once

#include <arrow/table.h>

#include <memory>
#include <vector>

#include "dse/results/rows.h"

namespace pliant {

std::shared_ptr<arrow::Table> designs_table(const Provenance& provenance, const std::vector<DesignRow>& rows);

}  // namespace pliant
