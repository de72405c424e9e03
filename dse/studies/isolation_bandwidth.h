// SPDX-License-Identifier: Apache-2.0
// The isolation study over the bandwidth of the DRAM, which the flexibility paper does not print: a curve for each
// printed speedup, and the bandwidths under which it comes out.
#pragma once

#include "dse/studies/study.h"

namespace pliant {

/// Figures 7, 9, 10, 11: speedups of the whole model.
void isolation_over_bandwidth(const StudyContext& context, StudyResult& result);
/// Figure 8: runtime against the buffer.
void buffers_over_bandwidth(const StudyContext& context, StudyResult& result);

}  // namespace pliant
