// SPDX-License-Identifier: Apache-2.0
// From Arrow's status values to this project's exceptions.
#pragma once

#include <arrow/result.h>
#include <arrow/status.h>

#include <string>
#include <utility>

#include "dse/results/atomic_file.h"

namespace pliant {

inline void require_ok(const arrow::Status& status, const std::string& doing) {
  if (!status.ok()) throw StorageError(doing + ": " + status.message());
}

template <class Value>
Value require_value(arrow::Result<Value> result, const std::string& doing) {
  require_ok(result.status(), doing);
  return std::move(result).ValueUnsafe();
}

}  // namespace pliant
