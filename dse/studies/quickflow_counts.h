// SPDX-License-Identifier: Apache-2.0
// What the QuickFlow paper counts about its own search, counted by our `local`: permutations of loops that remain to be
// compared, and whether comparing all of them finds more.
#pragma once

#include "dse/studies/study.h"

namespace pliant {

void quickflow_counts(const StudyContext& context, StudyResult& result);

}  // namespace pliant
