// SPDX-License-Identifier: Apache-2.0
// One function for each study; studies.cpp lists them.
#pragma once

#include "dse/studies/study.h"

namespace pliant {

StudyResult run_area_study(const StudyContext& context);
StudyResult run_isolation_study(const StudyContext& context);

}  // namespace pliant
