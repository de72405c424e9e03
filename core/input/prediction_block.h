// SPDX-License-Identifier: Apache-2.0
// The block `prediction` of an accelerator: what separates a good kernel's time from the bound.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/accelerator.h"
#include "core/input/cursor.h"
#include "core/input/library.h"
#include "core/input/settings.h"
#include "core/prediction.h"

namespace pliant {

/// Of an accelerator whose levels and clock are known.
PredictionFigures read_prediction(const Cursor& block, const Accelerator& accelerator);

/// Of a file that load_accelerator() takes; nullopt where it has no such block.
std::optional<PredictionFigures> load_prediction(const Library& library, std::string_view name_or_path,
                                                 const std::vector<Setting>& settings, const Accelerator& accelerator);

/// The value of the key.
std::string write_prediction(const PredictionFigures& prediction, const Accelerator& accelerator);

}  // namespace pliant
