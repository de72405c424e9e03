// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "dse/sweep/run_sweep.h"

namespace pliant {

/// "best edp_pj_cycles 1.2345e+12 (resnet50, design 7: rows=8 FullFlex-1010)".
std::string best_text(const SweepProgress::Best& best);

/// "1 h 02 min", "3 min 05 s", "12 s".
std::string readable_seconds(double seconds);

}  // namespace pliant
