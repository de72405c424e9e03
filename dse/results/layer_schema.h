// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arrow/type.h>

#include <memory>

#include "dse/results/rows.h"

namespace pliant {

/// Of the table of layers: every column with its type, unit and meaning.
std::shared_ptr<arrow::Schema> layers_schema(const Provenance& provenance);

}  // namespace pliant
