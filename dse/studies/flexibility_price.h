// SPDX-License-Identifier: Apache-2.0
// What flexibility may cost in energy before it stops paying. The flexibility paper says that a soft partition
// "significantly increases" the energy of an access, and prints no figure; so the question is turned round.
#pragma once

#include "dse/studies/study.h"

namespace pliant {

void flexibility_price(const StudyContext& context, StudyResult& result);

}  // namespace pliant
