// SPDX-License-Identifier: Apache-2.0
// An inflexible design as an accelerator file: flexref with another baseline. What is free or partial stays flexref's.
#pragma once

#include <filesystem>
#include <string>

#include "dse/studies/inflexible_design.h"
#include "dse/studies/study.h"

namespace pliant {

/// Writes NAME.yaml into the study's folder and returns its path, which is good for --accelerator and for sweeps.
std::filesystem::path write_accelerator(const StudyContext& context, const InflexibleDesign& design,
                                        const std::string& name);

/// "Y over 16 rows, K over 64 columns, tile K384 ..." in the dims of the paper's convolution.
std::string describe(const InflexibleDesign& design);

}  // namespace pliant
