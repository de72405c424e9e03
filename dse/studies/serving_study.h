// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dse/studies/study.h"

namespace pliant {

StudyResult run_serving_study(const StudyContext& context);

}  // namespace pliant
