// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arrow/table.h>

#include <memory>

namespace pliant::python {

/// A table that leaves through Arrow's C stream interface without being copied.
struct ArrowTable {
  std::shared_ptr<arrow::Table> table;
};

}  // namespace pliant::python
