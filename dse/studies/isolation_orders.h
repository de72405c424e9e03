// SPDX-License-Identifier: Apache-2.0
// The orders that the flexibility paper's Figure 9 calls chosen, each priced by itself.
#pragma once

#include "dse/studies/study.h"

namespace pliant {

void chosen_orders(const StudyContext& context, StudyResult& result);

}  // namespace pliant
