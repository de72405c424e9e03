// SPDX-License-Identifier: Apache-2.0
// Accelerators as YAML with everything resolved: no includes, parameters or table look-ups are left.
#pragma once

#include <string>

#include "core/accelerator.h"

namespace pliant {

std::string write_accelerator(const Accelerator& accelerator);
std::string write_flexibility(const Accelerator& accelerator);
/// F alone, whatever class says it too; empty when nothing is said.
std::string write_fusion(const Accelerator& accelerator);

}  // namespace pliant
