// SPDX-License-Identifier: Apache-2.0
// Inputs as a person reads them: tables and a drawing.
#pragma once

#include <string>

#include "core/accelerator.h"
#include "core/layer.h"

namespace pliant {

std::string show_text(const Accelerator& accelerator, bool ascii);
std::string show_text(const Workload& workload, bool ascii);
std::string show_text(const Layer& layer, bool ascii);

}  // namespace pliant
