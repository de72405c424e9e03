// SPDX-License-Identifier: Apache-2.0
// Padding as a mapper without remainders would use it: a dim that runs over a side of the array is rounded up to the
// next multiple of that side, and the padded work is paid for.
#pragma once

#include "dse/studies/study_task.h"

namespace pliant {

struct PaddedOptima {
  SearchResult always;  ///< C, M and Q are all padded
  SearchResult best;    ///< the best of the eight sets of them
};

/// Proven optima for EDP with perfect factors. C runs over the rows, M and Q over the columns.
PaddedOptima padded_optima(const StudyContext& context, const Accelerator& accelerator, const Layer& layer, Count rows,
                           Count cols);

}  // namespace pliant
